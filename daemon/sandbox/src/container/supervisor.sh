# The first process of a container: runs a program, and ends all there is when its input says or ends.
# Arguments: KiB of memory and of addresses of one process, then the program's own.
data=$1
addresses=$2
shift 2
exec 3<&0
# The engine could not start with so little.
( ulimit -d "$data"; ulimit -v "$addresses"; exec "$@" ) </dev/null 3<&- &
program=$!
# A line asks for an end, the end of input demands it.
( read -r word <&3 && { kill -TERM -1; kill -CONT -1; sleep 0.5; }; kill -KILL -1 ) >/dev/null 2>&1 &
exec 3<&-
wait "$program"
code=$?
# What it left running gets a moment. With this process and the reader there are two.
for moment in 1 2 3; do
    set -- /proc/[0-9]*
    [ $# -gt 2 ] || break
    sleep 0.1
done
exit "$code"
