// Package restore owns putting a workspace back to a snapshot without losing a
// byte: the plan (pure but for looking at the disk), its execution by exchange
// and quarantine, and what is made of one that was killed.
//
// It must not know missions, agents, sessions or refs, publishes nothing, and
// never overwrites or unlinks a file of the user's: files are exchanged or
// renamed into the quarantine of the operation's journal entry, and leave it
// only when their bytes are known to be stored (I8).
//
// A caller holds the workspace's lock all the time. In order: Make or Inverse
// for the plan; Prepare and journal.Begin for the entry; Apply; its own part;
// Finish, and Tidy where the workspace itself holds the quarantine; and Settle, at
// the earliest at the next idle point, until nothing is left there. Recover is for an entry whose process died.
package restore
