# The first process of a container: runs a program, and ends all there is when its input says or ends.
# Arguments: KiB of memory and of addresses of one process; pairs of
# device:inode and path that mounts must have; "--"; the program and its own.
data=$1
addresses=$2
shift 2
while [ "$1" != -- ]; do
    # The engine mounts by name, and what has that name may have been exchanged since it was looked at.
    if [ "$(stat -c %d:%i "$2" 2>/dev/null)" != "$1" ]; then
        echo "agentd: $2 was exchanged while the container was made; nothing was run" >&2
        exit 125
    fi
    shift 2
done
shift
# What a shell starts beside itself ignores these signals.
with=
if env --default-signal=INT,QUIT true 2>/dev/null; then with='env --default-signal=INT,QUIT'; fi
# A session of its own: what signals its group signals itself.
if command -v setsid >/dev/null 2>&1; then with="setsid $with"; fi

exec 3<&0 </dev/null
(
    exec 3<&-
    # The engine could not start with so little.
    if ulimit -d "$data" && ulimit -v "$addresses"; then
        # shellcheck disable=SC2086
        exec $with "$@"
    fi
    echo "agentd: the limits of memory cannot be set; nothing was run" >&2
    exit 125
) &
program=$!

# A line asks for an end, the end of input demands it.
listen() {
    (
        if read -r _ <&3; then
            kill -TERM -1
            kill -CONT -1
            sleep 0.5
        fi
        kill -KILL -1
    ) >/dev/null 2>&1 &
    listener=$!
}

has_ended() {
    read -r stat 2>/dev/null <"/proc/$1/stat" || return 0
    # The name stands in brackets and may hold anything.
    case ${stat##*) } in Z*) return 0 ;; esac
    return 1
}

# Shells do not agree on what interrupts a wait, so that this looks again and again.
listen
lost=0
looks=0
while ! has_ended "$program"; do
    # What listens can be killed from inside, by accident a few times.
    if has_ended "$listener"; then
        lost=$((lost + 1))
        if [ "$lost" -gt 3 ]; then kill -KILL -1; fi
        listen
    fi
    looks=$((looks + 1))
    if [ "$looks" -lt 40 ]; then sleep 0.03; else sleep 0.2; fi
done 2>/dev/null
wait "$program" 2>/dev/null
code=$?
# What it left running gets a moment. With this process and the listener there are two.
for _ in 1 2 3; do
    set -- /proc/[0-9]*
    [ $# -gt 2 ] || break
    sleep 0.1
done
exit "$code"
