# Sourced by the commands in scripts/ before they prepare anything: what they answer at once, and what they refuse. In
# plain POSIX sh, because nothing is installed yet. Each command says its own `usage`.

program=scripts/${0##*/}

# Help is the answer wherever it is asked for, whatever else is said.
answer_help() {
  for argument in "$@"; do
    case $argument in
      -h | --help)
        usage
        exit 0
        ;;
    esac
  done
}

refuse() {
  printf '%s: %s\nType %s --help for what there is.\n' "$program" "$1" "$program" >&2
  exit 2
}

refuse_argument() {
  case $1 in
    -*) refuse "there is no option ${1%%=*}" ;;
    *) refuse "it takes no argument: $1" ;;
  esac
}

# check_options VALUED PLAIN ARGUMENT...: VALUED options take a value, as the next argument or after `=`; PLAIN ones
# take none, or with `=` at their end one after it. The rest goes to check_word, which each command has for itself.
check_options() {
  valued=$1 plain=$2
  shift 2
  while [ $# -gt 0 ]; do
    name=${1%%=*}
    case $1 in
      -?*)
        case " $valued " in
          *" $name "*)
            if [ "$name" = "$1" ]; then
              [ $# -gt 1 ] || refuse "$1 needs a value"
              shift
            fi
            ;;
          *)
            case " $plain " in
              *" $1 "* | *" $name= "*) ;;
              *" $name "*) refuse "$name takes no value" ;;
              *) refuse_argument "$1" ;;
            esac
            ;;
        esac
        ;;
      *) check_word "$1" ;;
    esac
    shift
  done
}
