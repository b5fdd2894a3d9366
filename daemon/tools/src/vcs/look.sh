# What a commit would hold. Nothing of the repository is written: what is made along the way goes
# to a directory of this run. Arguments: pathspecs; none: what is staged.
set -eu
git_dir=$(git rev-parse --absolute-git-dir)
for state in MERGE_HEAD CHERRY_PICK_HEAD REVERT_HEAD rebase-merge rebase-apply; do
    if [ -e "$git_dir/$state" ]; then
        echo "busy $state"
        exit 0
    fi
done
parent=$(git rev-parse -q --verify 'HEAD^{commit}' || true)
objects=$(cd "$(git rev-parse --git-path objects)" && pwd)
export GIT_ALTERNATE_OBJECT_DIRECTORIES="$objects" GIT_OBJECT_DIRECTORY="$TMPDIR/objects"
export GIT_INDEX_FILE="$TMPDIR/index"
mkdir "$GIT_OBJECT_DIRECTORY"
if [ $# -eq 0 ]; then
    if [ -e "$git_dir/index" ]; then cp "$git_dir/index" "$GIT_INDEX_FILE"; fi
else
    if [ -n "$parent" ]; then git read-tree "$parent"; fi
    git -c core.quotePath=true ls-files -s -- "$@" | sed -n "s/^160000 [^$tab]*$tab/submodule /p"
    pathspecs "$@" > "$TMPDIR/specs"
    git add -A --pathspec-from-file="$TMPDIR/specs" --pathspec-file-nul
fi
tree=$(git write-tree)
base=${parent:-$(git hash-object -t tree -w /dev/null)}
# A value may hold anything: one line of it, and nothing that ends a line.
one_line() { git config "$1" | head -n 1 | tr -d '\000-\037\177' || true; }
printf '%s\n' "tree $tree" "parent $parent" "branch $(git symbolic-ref -q HEAD || true)" \
    "name $(one_line user.name)" "email $(one_line user.email)"
git diff-tree -r --name-only "$base" "$tree" | git check-attr --stdin filter |
    grep -v -e ': filter: unspecified$' -e ': filter: unset$' | head -n 5 | sed 's/^/filter /' || true
for hook in pre-commit prepare-commit-msg commit-msg post-commit; do
    if [ -x "$git_dir/hooks/$hook" ]; then echo "hook $hook"; fi
done
git -c core.quotePath=true diff-tree -r --no-renames --name-status "$base" "$tree" > "$TMPDIR/files"
echo "count $(wc -l < "$TMPDIR/files")"
head -n 1000 "$TMPDIR/files" | sed 's/^/file /'
