// Package fork owns the workspace of a forked mission: making it beside a
// source that stays as it was, taking it away again if the fork fails or the
// process is killed, and parting with it when the mission is removed. In a Git
// repository that is a linked worktree on a branch of its own, elsewhere a
// plain directory.
//
// It must not know missions, sessions or the refs of the shadow repository, and
// writes nothing into the source's workspace, its index or its HEAD. Of the
// user's repository it changes only what a fork is made of: a worktree's entry,
// a branch with its reflog, and added objects (I5). It never makes hard links,
// and runs neither hooks nor filters of the user's (H18, H21).
package fork
