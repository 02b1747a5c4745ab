# Outlives a parent that is killed with -9, and ends what it left behind. Each line on stdin is the whole
# state: "pids of applications|pids of servers", every pid leading a process group of its own. When the
# pipe closes, the last line counts; after an orderly end it is empty.
trap '' INT TERM HUP
applications= servers=
while IFS='|' read -r applications_now servers_now; do
  applications=$applications_now servers=$servers_now
done

# Where nobody collects ended orphans (many containers) they stay as zombies, which kill -0 still finds.
is_running() {
  kill -0 "$1" 2>/dev/null || return 1
  if read -r stat <"/proc/$1/stat"; then
    case $stat in *") Z "*) return 1 ;; esac
  fi 2>/dev/null
}

end_groups() {
  for pid in "$@"; do kill -TERM "-$pid" 2>/dev/null; done
  tenths=0
  for pid in "$@"; do
    while is_running "$pid" && [ $tenths -lt 450 ]; do
      tenths=$((tenths + 1))
      if [ $tenths -eq 400 ]; then for late in "$@"; do kill -KILL "-$late" 2>/dev/null; done; fi
      sleep 0.1
    done
  done
}

# Applications first: they still write to the servers while they finish the work that they have begun.
# shellcheck disable=SC2086
end_groups $applications
# shellcheck disable=SC2086
end_groups $servers
