// Package lock owns Umbra's kernel locks (flock): the home's, one per project
// and one per workspace, and the order in which nested workspaces are taken.
// Nothing here decides by what is written in a lock file: the holder's note
// is for messages only, a lock is free the moment its process is gone (H25),
// and a lock file is never deleted.
package lock
