package beneath

import "golang.org/x/sys/unix"

func exchangeAt(fromFd int, from string, toFd int, to string) error {
	return unsupported(unix.RenameatxNp(fromFd, from, toFd, to, unix.RENAME_SWAP))
}

func renameNoReplaceAt(fromFd int, from string, toFd int, to string) error {
	return unsupported(unix.RenameatxNp(fromFd, from, toFd, to, unix.RENAME_EXCL))
}
