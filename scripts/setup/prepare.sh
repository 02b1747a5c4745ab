# Sourced by the commands in scripts/: packages of the lock file installed, and their Node 24 first in PATH.
# Plain POSIX sh, because on a bare machine there is nothing else yet. Says what it does on stderr, so that
# `scripts/admin --json` keeps stdout for itself.

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
prepare_lock=$root/.local/prepare.lock
npm_log=$root/.local/npm-ci.log
node_folder=$root/.local/node
npm_pid=

say() { printf '%s\n' "$*" >&2; }
fail() {
  say "$*"
  exit 1
}

# A checkout seen by two systems (a container and its host) needs the packages of the system that it runs on.
packages_wanted() { printf '%s %s\n' "$(cksum <"$root/package-lock.json")" "$(uname -sm)"; }

packages_fresh() {
  [ -f "$root/node_modules/.prepared" ] && [ "$(cat "$root/node_modules/.prepared")" = "$(packages_wanted)" ]
}

# npm writes its own lock file last, so a newer lock file means that an installation by hand has completed.
packages_installed_by_hand() {
  [ "$root/node_modules/.package-lock.json" -nt "$root/package-lock.json" ] && packages_complete "$@" 2>/dev/null
}

packages_complete() {
  PATH=$root/node_modules/.bin:$PATH node "$root/scripts/setup/packages-complete.cjs" "$@"
}

release_prepare_lock() {
  if [ -n "$npm_pid" ]; then
    # After SIGTERM npm takes a minute to undo its work, which the next run throws away anyway.
    kill -KILL "$npm_pid" 2>/dev/null || true
    wait "$npm_pid" 2>/dev/null || true
  fi
  rm -rf "$prepare_lock"
}

take_prepare_lock() {
  mkdir -p "$root/.local"
  chmod 700 "$root/.local"
  waited=0
  until mkdir "$prepare_lock" 2>/dev/null; do
    holder=$(cat "$prepare_lock/pid" 2>/dev/null || true)
    if [ -n "$holder" ] && ! kill -0 "$holder" 2>/dev/null && [ ! -d "/proc/$holder" ]; then
      rm -rf "$prepare_lock"
      continue
    fi
    [ $waited -ne 0 ] || say "Packages: another command is installing them; waiting for it"
    waited=$((waited + 1))
    # A lock without a pid means that its holder died between two commands, because a living holder writes its pid at
    # once.
    if [ -z "$holder" ] && [ $waited -gt 10 ]; then rm -rf "$prepare_lock"; fi
    sleep 1
  done
  echo $$ >"$prepare_lock/pid"
  trap release_prepare_lock EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
}

free_prepare_lock() {
  trap - EXIT INT TERM HUP
  rm -rf "$prepare_lock"
}

# Homebrew keeps versioned formulas out of PATH.
use_homebrew_node() {
  for folder in /opt/homebrew/opt/node@24/bin /usr/local/opt/node@24/bin; do
    if [ -x "$folder/node" ]; then PATH=$folder:$PATH; fi
  done
}

ensure_npm() {
  if command -v npm >/dev/null 2>&1; then return; fi
  if [ "$(uname -s)" = Darwin ]; then fail "npm is missing. Type: brew install node@24"; fi
  command -v apt-get >/dev/null 2>&1 || fail "npm is missing. Install Node 24 with npm (https://nodejs.org), then try again."
  packages='nodejs npm ca-certificates'
  if [ "$(id -u)" -ne 0 ]; then
    fail "npm is missing. Type: sudo apt-get update && sudo apt-get install -y --no-install-recommends $packages"
  fi
  say "npm: missing; installing Debian's $packages with apt-get (about a minute)"
  apt_log=$root/.local/apt-npm.log
  # An update that misses one source may still have what is needed.
  if ! {
    apt-get update || true
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $packages
  } >"$apt_log" 2>&1; then
    tail -n 30 "$apt_log" >&2
    fail "apt-get could not install $packages; the lines above say why."
  fi
}

# Runs on any Node, however old.
node_is_at_least() {
  node -e 'process.exit(parseInt(process.versions.node, 10) >= process.argv[1] ? 0 : 1)' "$1" 2>/dev/null
}

fail_for_node() {
  say "Node 24 is needed; found: $(node -v 2>/dev/null || echo none)."
  if [ "$(uname -s)" = Darwin ]; then fail "Type: brew install node@24"; fi
  fail "The npm packages bring one for Linux with glibc on x64 and arm64. Elsewhere install Node 24 (https://nodejs.org) and put it in PATH."
}

# The packages bring prebuilt programs, so no install script is needed, and NODE_ENV=production in the caller's
# shell must not leave out what the development mailbox and the tests need.
npm_ci() {
  (cd "$1" && exec npm ci --ignore-scripts --include=dev --include=optional --no-audit --no-fund) >>"$npm_log" 2>&1 &
  npm_pid=$!
  if wait "$npm_pid"; then
    npm_pid=
    return
  fi
  npm_pid=
  tail -n 40 "$npm_log" >&2
  fail "npm ci failed; the lines above say why (all of them: $npm_log)."
}

# npm silently leaves out optional packages, native parts among them, that want a newer Node than the one it runs on.
fetch_node() {
  if [ "$(uname -s)" != Linux ]; then fail_for_node; fi
  say "Node: $(node -v) is too old to install all packages with; fetching the Node of the lock file for it"
  node "$root/scripts/setup/node-only.cjs" "$node_folder"
  npm_ci "$node_folder"
  for folder in "$node_folder"/node_modules/node-linux-*/bin; do PATH=$folder:$PATH; done
  node_is_at_least 24 || fail_for_node
}

# npm 9 keeps the name "node" for the package of the other architecture, which it then leaves out.
link_node() {
  for package in "$root"/node_modules/node-linux-*; do
    if [ -x "$package/bin/node" ] && [ ! -x "$root/node_modules/.bin/node" ]; then
      ln -sf "../${package##*/}/bin/node" "$root/node_modules/.bin/node"
    fi
  done
}

install_packages() {
  started=$(date +%s)
  : >"$npm_log"
  if ! node_is_at_least 20; then fetch_node; fi
  say "Packages: npm ci (node_modules is missing or does not match package-lock.json)"
  npm_ci "$root"
  link_node
  if ! packages_complete 2>>"$npm_log" && ! node_is_at_least 24; then
    fetch_node
    npm_ci "$root"
    link_node
  fi
  rm -rf "$node_folder"
  say "Packages: installed in $(($(date +%s) - started)) s"
}

ensure_packages() {
  if packages_fresh; then return; fi
  # The processes of a server use an installation without the packages for development. A new installation would remove
  # packages while these processes run.
  if [ "${packages_needed:-}" = run ] && packages_installed_by_hand --omit=dev; then return; fi
  take_prepare_lock
  if ! packages_fresh; then
    if ! packages_installed_by_hand; then
      ensure_npm
      install_packages
    fi
    packages_wanted >"$root/node_modules/.prepared"
  fi
  free_prepare_lock
}

ensure_node() {
  PATH=$root/node_modules/.bin:$PATH
  export PATH
  # After an installation by hand with npm 9, node_modules/.bin may have no link to the Node of the packages.
  for folder in "$root"/node_modules/node-linux-*/bin; do
    if [ -x "$folder/node" ] && ! node_is_at_least 24; then PATH=$folder:$PATH; fi
  done
  node_is_at_least 24 || fail_for_node
}

if [ "$(uname -s)" = Darwin ]; then use_homebrew_node; fi
ensure_packages
ensure_node
