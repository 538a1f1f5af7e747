// Package disk opens and reads files that are on a disk. Package os first offers
// every file it opens to the runtime's poller, which takes none of a disk: five
// system calls an open that a hook, which opens some eighty files, is spared.
// It is not for what may make a reader wait: pipes, terminals, sockets. Where others
// may have put one in the place of a file, OpenRegular and ReadFile refuse it. Now is the
// clock of the times that such files have.
package disk
