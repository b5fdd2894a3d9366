# Writes pathspecs for the option --pathspec-from-file: those that are given, without the repositories
# in this one. Looking whether such a repository has changed would run what its own settings name.
pathspecs() {
    git ls-files -s -z > "$TMPDIR/entries"
    printf '%s\0' "$@"
    sed -z -n "s/^160000 [^$tab]*$tab/:(exclude,top,literal)/p" "$TMPDIR/entries"
}
tab=$(printf '\t')
