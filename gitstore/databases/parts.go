package databases

import (
	"errors"
	"io"
	"strings"
)

// The ends of the names of the files beside a database:
// https://www.sqlite.org/tempfiles.html.
const (
	Log     = "-wal"     // the write-ahead log: commits that the database does not hold yet
	Journal = "-journal" // the rollback journal: what a transaction has overwritten
	Index   = "-shm"     // shared memory. It holds nothing that is not in the log, and is made anew
)

// head begins the file of a database that holds anything, whose size is one of whole
// pages: https://www.sqlite.org/fileformat.html.
const (
	head     = "SQLite format 3\x00"
	pageSize = 512
)

// HeadSize is how many bytes Begins looks at.
const HeadSize = len(head)

// Logs are the ends of the files without which a database is not whole.
func Logs() [2]string { return [2]string{Log, Journal} }

// Beside are the ends of all files beside a database.
func Beside() [3]string { return [3]string{Journal, Index, Log} }

// Of splits the path of a file into that of the database that it would be a part of, and
// the end of its name: "" for what may be a database itself.
func Of(path string) (database, end string) {
	for _, end := range Beside() {
		if name, ok := strings.CutSuffix(path, end); ok && name != "" && name[len(name)-1] != '/' {
			return name, end
		}
	}
	return path, ""
}

// CanBe tells whether a file of that size can be a database that holds anything.
func CanBe(size int64) bool { return size >= pageSize && size%pageSize == 0 }

// CanBeIndex tells whether shared memory can have that size: it grows by 32 KiB, and whoever
// opens it first cuts it to three bytes (SQLite's os_unix.c, unixLockSharedMemory).
func CanBeIndex(size int64) bool { return size <= 3 || size%(32<<10) == 0 }

// Is tells whether a content of that size is a database. It reads no more than its head.
func Is(content io.Reader, size int64) (bool, error) {
	if !CanBe(size) {
		return false, nil
	}
	var begin [HeadSize]byte
	n, err := io.ReadFull(content, begin[:])
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil
	}
	return Begins(begin[:n]), err
}

// Begins tells whether a file that begins so is a database.
func Begins(data []byte) bool { return strings.HasPrefix(string(data), head) }

// Head begins each database.
func Head() []byte { return []byte(head) }

// journalHead begins and ends a journal that names others:
// https://www.sqlite.org/fileformat.html#the_rollback_journal.
const journalHead = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"

// SpansSeveral tells whether a rollback journal of a size is of a transaction over several
// databases. One that can't be read counts as such.
func SpansSeveral(journal io.ReaderAt, size int64) bool {
	if size < 2*int64(len(journalHead)) {
		return false
	}
	var first, last [len(journalHead)]byte
	if _, err := journal.ReadAt(first[:], 0); err != nil {
		return true
	}
	if _, err := journal.ReadAt(last[:], size-int64(len(last))); err != nil {
		return true
	}
	return string(first[:]) == journalHead && string(last[:]) == journalHead
}
