# Sourced by the commands in scripts/ before they prepare anything. Answers --help and refuses wrong arguments, in plain
# POSIX sh, because nothing is installed yet. Each command defines its own `usage`.

program=scripts/${0##*/}

# --help counts at any place, whatever the other arguments are.
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

# check_options VALUED PLAIN ARGUMENT...: a VALUED option takes a value, as the next argument or after `=`. A PLAIN
# option takes no value, or a value after `=` if it is listed with `=` at its end. Other arguments go to check_word,
# which each command defines.
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
