# Makes the commit that was looked at, or none. Arguments: tree, parent or nothing, branch or
# nothing, message, then the pathspecs; none: what is staged.
set -eu
tree=$1 parent=$2 branch=$3 message=$4
shift 4
git_dir=$(git rev-parse --absolute-git-dir)
if [ $# -eq 0 ]; then
    if [ -e "$git_dir/index" ]; then cp "$git_dir/index" "$TMPDIR/index"; fi
    now=$(GIT_INDEX_FILE="$TMPDIR/index" git write-tree)
else
    export GIT_INDEX_FILE="$TMPDIR/index"
    if [ -n "$parent" ]; then git read-tree "$parent"; fi
    pathspecs "$@" > "$TMPDIR/specs"
    git add -A --pathspec-from-file="$TMPDIR/specs" --pathspec-file-nul
    now=$(git write-tree)
    unset GIT_INDEX_FILE
fi
if [ "$now" != "$tree" ] || [ "$(git symbolic-ref -q HEAD || true)" != "$branch" ]; then
    echo changed
    exit 0
fi
commit=$(printf '%s\n' "$message" | git stripspace | git commit-tree ${parent:+-p "$parent"} "$tree")
# Only while the branch is where it was: an empty old value means that there is none.
if ! git update-ref -m "commit: $(printf '%s' "$message" | head -n 1)" HEAD "$commit" \
    "$parent" 2> "$TMPDIR/why"; then
    echo changed
    cat "$TMPDIR/why" >&2
    exit 0
fi
echo "commit $commit"
if [ $# -gt 0 ] &&
    ! git reset -q --pathspec-from-file="$TMPDIR/specs" --pathspec-file-nul "$commit"; then
    echo "index"
fi
git show --no-ext-diff --no-textconv --submodule=short --ignore-submodules=dirty --stat --format=%h "$commit" | sed 's/^/stat /'
