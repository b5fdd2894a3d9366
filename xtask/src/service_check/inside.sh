#!/bin/bash
# Runs inside the booted container, as root. Each check is a line of /check/results.
set -u
export PATH=/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin HOME=/root
socket=/run/agentd/agentd.sock
results=/check/results

# check NAME COMMAND...: the command's success is the check's.
check() {
    local name=$1 began=$EPOCHREALTIME
    shift
    if "$@" >/check/said 2>&1; then
        local took=$(((${EPOCHREALTIME/./} - ${began/./}) / 1000))
        echo "ok $name ($took ms)" >>$results
    else
        echo "FAILED $name: $* said: $(head -c 1500 /check/said | tr '\n' '|')" >>$results
    fi
}
# within SECONDS COMMAND...: tries until it succeeds.
within() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.1
    done
}
property() { systemctl show --value --property="$1" "${2:-agentd.service}"; }
main_pid() { property MainPID; }
ask() { agentctl --socket $socket "$@"; }
# says PATTERN COMMAND...: reads all that the command says, so that it runs to its end.
says() { "${@:2}" >/check/heard 2>&1; cat /check/heard; grep -q -e "$1" /check/heard; }
refused() { ! "$@"; }

# --- a key as a credential, and an endpoint that nobody serves, so that a turn fails and says so
mkdir -p /etc/agentd /etc/systemd/system/agentd.service.d
(umask 077; echo sk-boot-test >/etc/agentd/api-key)
cat >/etc/agentd/config.toml <<END
[provider]
kind = "openai"
base_url = "http://127.0.0.1:9/v1"
model = "none"
END
cat >/etc/systemd/system/agentd.service.d/check.conf <<END
[Service]
LoadCredential=agentd-api-key:/etc/agentd/api-key
# Soon enough for a test.
WatchdogSec=3s
END
check "install: files, user, units, start until ready" agentctl service install --agentd /usr/local/bin/agentd
chgrp agentd /etc/agentd/config.toml; chmod 0640 /etc/agentd/config.toml
check "it is active and has said that it is ready" says '^active$' property ActiveState
check "status line" within 10 says 'sessions live' property StatusText
check "it runs as the user agentd" says '^agentd$' stat -c %U /proc/"$(main_pid)"
check "socket 0660 of the group" says '^660 agentd:agentd$' stat -c '%a %U:%G' $socket
check "its folder is closed to others" says '^750 root:agentd$' stat -c '%a %U:%G' /run/agentd
check "data are private" says '^700 agentd:agentd$' stat -c '%a %U:%G' /var/lib/agentd/data
check "agentctl service status" says 'agentd.service .*active (running)' agentctl service status
check "the credential is the key" refused says 'no usable API key' ask status
check "commands run in a sandbox under this unit" within 20 says '^sandbox   \(bubblewrap\|landlock\) ' ask sandbox
install -d -o agentd -g agentd /var/lib/agentd/work
check "a command runs in it" says '^from the box$' ask tools run run_command command='echo from the box' --workspace /var/lib/agentd/work --yes
tr '\0' '\n' </proc/"$(main_pid)"/environ >/check/environ
check "the key is not in the environment" refused grep -q sk-boot-test /check/environ
# Without a key it would not even be tried.
check "a turn fails at the endpoint" says '127.0.0.1:9' ask send "hello"
journal() { journalctl --unit=agentd --output=json --no-pager; }
check "journal: session as a field" within 10 says '"AGENTD_SESSION_ID":"' journal
check "journal: turn as a field" within 10 says '"AGENTD_TURN_ID":"' journal
check "journal: identifier" says '"SYSLOG_IDENTIFIER":"agentd"' journal
check "the key is not in the journal" refused says sk-boot-test journal

# --- reload
sed -i 's/kind = .*/kind = "offline"/; /base_url/d; /model/d' /etc/agentd/config.toml
check "reload" systemctl reload agentd.service
check "the new configuration is in force" within 10 says offline ask status
check "an answer" says 5 ask send "what is 2 + 3?"

# --- who may connect
useradd --create-home ann && useradd bob && usermod --append --groups agentd ann
as() { setpriv --reuid "$1" --regid "$1" --init-groups env HOME=/tmp "${@:2}"; }
check "a member of the group may" as ann agentctl --socket $socket status
check "others may not" refused as bob agentctl --socket $socket status

# --- activation
check "stop of an idle daemon" systemctl stop agentd.service
check "the socket still listens" says '^active$' property ActiveState agentd.socket
check "a connection starts it" ask status
check "it is active again" says '^active$' property ActiveState

# --- a client that goes on over a restart
ask send "what is 1 + 1?" >/dev/null 2>&1
ask attach last --json >/check/attached 2>/check/attach-notes &
attached=$!
check "a terminal is attached" within 10 says '1 terminal' ask status
old=$(main_pid)
check "restart with a terminal attached" systemctl restart agentd.service
check "another process" [ "$(main_pid)" != "$old" ]
check "the terminal comes back" within 20 says '1 terminal' ask status
check "another message" says 42 ask send --session last "what is 6 * 7?"
check "the terminal has seen it" within 10 grep -q 42 /check/attached

# --- upgrade
old=$(main_pid)
cp /usr/local/bin/agentd /usr/local/bin/agentd.new && mv /usr/local/bin/agentd.new /usr/local/bin/agentd
check "upgrade" says 'became' ask upgrade
check "the same process" [ "$(main_pid)" = "$old" ]
check "systemd finds it ready" within 10 says '^active running$' echo "$(property ActiveState) $(property SubState)"
check "the terminal has come back again" within 20 says '1 terminal' ask status
sleep 5
check "signs of life go on" [ "$(main_pid)" = "$old" ]

# --- hang and crash
restarts=$(property NRestarts)
kill -STOP "$old"
restarted() { [ "$(property NRestarts)" -gt "$restarts" ] && [ "$(main_pid)" != "$old" ] && [ "$(property ActiveState)" = active ]; }
check "watchdog: a daemon that hangs is killed and started again" within 40 restarted
check "the reason is told" says 'watchdog' journalctl --unit=agentd --no-pager
old=$(main_pid) restarts=$(property NRestarts)
kill -KILL "$old"
check "a crash is followed by a start" within 20 restarted
check "the log is whole" says 42 ask sessions export last --format markdown

# --- stop with a terminal attached
check "the terminal is attached at the stop" within 20 says '1 terminal' ask status
timed_stop() { timeout 15 systemctl stop agentd.service && [ "$(property Result)" = success ]; }
check "stop in time with a terminal attached" timed_stop
kill $attached 2>/dev/null

# --- the box of tools under the unit's own hardening
sed -e 's/^Type=.*/Type=oneshot/' -e '/^NotifyAccess\|^ExecReload\|^Watchdog\|^Restart\|^Requires=\|^Also=/d' \
    -e 's|^ExecStart=.*|ExecStart=/usr/bin/bwrap --unshare-all --unshare-user --disable-userns --die-with-parent --new-session --cap-drop ALL --clearenv --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib --symlink usr/lib64 /lib64 PROC --dev /dev --tmpfs /tmp --remount-ro / /bin/true|' \
    /etc/systemd/system/agentd.service >/check/box.service
# Each has a directory of its own below /run: systemd removes one when its unit has ended, while the next begins.
box_unit() { sed -e "s|PROC|$2|" -e "s|^RuntimeDirectory=.*|RuntimeDirectory=$1|" /check/box.service >"/run/systemd/system/$1.service"; }
box_unit agentd-box '--proc /proc'
box_unit agentd-box-without-proc ''
systemctl daemon-reload
box() { systemctl start "$1" || { journalctl --unit="$1" --no-pager --output=cat | tail -n 5; return 1; }; }
check "bubblewrap under the unit's hardening, without /proc" box agentd-box-without-proc.service
check "bubblewrap under the unit's hardening" box agentd-box.service

# --- a user's own service
uid=$(id -u ann)
mine() { setpriv --reuid ann --regid ann --init-groups env HOME=/home/ann XDG_RUNTIME_DIR="/run/user/$uid" "$@"; }
my_pid() { mine systemctl --user show --value --property=MainPID agentd.service; }
check "a user's systemd" systemctl start "user@$uid.service"
check "user: a client starts a daemon of its own" says 5 mine agentctl send "what is 2 + 3?"
check "user: install makes it give way" says 'a daemon runs already' mine agentctl service install
check "user: status" says 'agentd.service .*active (running)' mine agentctl service status
check "user: the same sessions" says 42 mine agentctl send --session last "what is 6 * 7?"
mine systemctl --user stop agentd.socket agentd.service
check "user: a client starts what systemd looks after" says 7 mine agentctl send "what is 3 + 4?"
check "user: through systemd" says '^active$' mine systemctl --user show --value --property=ActiveState agentd.service
old=$(my_pid)
check "user: upgrade" says 'became' mine agentctl upgrade
check "user: the same process" [ "$(my_pid)" = "$old" ]
check "user: uninstall" mine agentctl service uninstall
check "user: nothing of it stays" refused ls /home/ann/.config/systemd/user/agentd.service

check "uninstall" agentctl service uninstall
check "nothing of it stays" refused ls /etc/systemd/system/agentd.service /etc/systemd/system/agentd.socket
check "sessions stay" ls /var/lib/agentd/data/store
echo complete >>$results
