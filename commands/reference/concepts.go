package reference

// ConceptsAbout is what concepts is about.
const ConceptsAbout = "the words of Umbra, and how a moment is named"

// Concepts is what umbra help concepts says.
const Concepts = `The words of Umbra

agent      the program that does the work: claude, codex, gemini, opencode,
           pi, copilot, qwen, or any command.
mission    one agent at work in one workspace. It has a name, a state and a
           history of snapshots. A fork is a mission with a parent.
workspace  the directory a mission works in: the top of a Git repository, or any
           directory. A snapshot captures it whole, but for what Git ignores.
session    the agent's own conversation, kept with the files.
turn       from your prompt to the end of the answer. Turns are numbered, and
           a number is never used again.
snapshot   the workspace and the conversation at one moment, as a Git commit in
           a repository of Umbra's own, beside yours. Umbra takes one when the
           agent changes state: before your prompt, between its tools, when the
           turn ends; umbra snapshot takes one by hand.
project    the missions that share a Git repository, or else a directory.
pin        a name for a snapshot, under which it is kept.

A moment is a snapshot as you type it
  login          the newest of mission login
  login~2        two snapshots back
  login@5        as turn 5 ended
  login@5.0      before turn 5: before your prompt was answered
  login@5.2      the second snapshot inside it
  login@-1       as the newest finished turn ended
  login@start    the first; login@fork: where it branched off
  login@{10m}    ten minutes ago; login@{2026-01-31 16:40}: then
  @5             of the mission here
  3f2ac1         an id, or the beginning of one (4 or more)
  good           a pin

umbra log prints moments that can be typed; Tab completes them.

What there is to do with a moment
  umbra show     what was asked, said and changed
  umbra diff     from then to now, or to another moment
  umbra restore  files and conversation go back, in place; umbra undo takes the
                 restore back. Nothing is lost: what is on disk is kept first
  umbra fork     both go on from there in a workspace of their own

Umbra never writes to your repository, its index or its branches; a fork adds a
linked worktree and its branch.
`
