// Package disk opens and reads files that are on a disk. Package os first offers
// every file it opens to the runtime's poller, which takes none of a disk: five
// system calls an open that a hook, which opens some eighty files, is spared.
// It must not be used for what may make a reader wait: pipes, terminals, sockets.
package disk
