// Package watcher owns paths and time: which paths under a directory may have
// changed since somebody last asked, and when they have come to rest. It is
// the only importer of fsnotify, and it knows no Git, no agent and no mission:
// what is ignored is a predicate it is given.
//
// It answers with a dirty set, never with a stream of events, because events
// are hints: files made in a directory before its watch exists give none, a
// full queue swallows them, and some file systems have none to give (H5, H37).
// The set is therefore allowed to say too much and never too little; where it
// can't know, it says Full with the reason, and the caller walks everything.
//
// What no event shows can't be in a dirty set either: stores through a
// writable mapping, and writes through another name of a hard link. Those are
// the caller's to reread.
//
// All state of watches is owned by one goroutine for each Watcher, which
// handles events in the kernel's order; a directory that appears is watched
// and walked before the next event is looked at. The barrier rests on that.
package watcher
