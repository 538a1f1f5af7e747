package lock

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/disk"
)

// Owner is a process as it signs the locks it takes. Start is the process's
// start as the system counts it, Boot the boot's id, Namespace the pid
// namespace; where the system does not tell they are zero.
type Owner struct {
	PID       int    `json:"pid"`
	Start     uint64 `json:"start,omitempty"`
	Boot      string `json:"boot,omitempty"`
	Namespace string `json:"pid_namespace,omitempty"`
	Command   string `json:"command"`
}

// Self describes this process; command is what people know it by, such as
// "umbra restore". It reads /proc once: make it once and pass it on.
func Self(command string) Owner {
	pid := os.Getpid()
	start, _ := startOf(pid)
	return Owner{PID: pid, Start: start, Boot: bootID(), Namespace: pidNamespace(), Command: command}
}

// Process describes another process of this machine as it is now, so that it is
// still told apart when its pid has been used again. One that is gone already is
// Gone for ever, whoever gets its pid.
func Process(pid int, command string) Owner {
	start, err := startOf(pid)
	if noProcess(err) {
		start = neverStarted
	}
	return Owner{PID: pid, Start: start, Boot: bootID(), Namespace: pidNamespace(), Command: command}
}

// noProcess reports whether the system says that there is no such process: before it was
// asked, or (ESRCH) while it looked.
func noProcess(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH)
}

// neverStarted is a start that no process has.
const neverStarted = math.MaxUint64

// Liveness is what can be said about a process from where we are.
type Liveness uint8

// A process on another boot is gone; one in another pid namespace, or with
// too little known about it, is Unknown.
const (
	Unknown Liveness = iota
	Alive
	Gone
)

// Liveness tells whether the process is still there, and is still the same.
// Never decide by it whether a lock is held: try the lock.
func (o Owner) Liveness() Liveness {
	if o.PID <= 0 || o.Boot == "" || o.Start == 0 {
		return Unknown
	}
	if boot := bootID(); boot != o.Boot {
		if boot == "" {
			return Unknown
		}
		return Gone
	}
	if o.Namespace == "" || o.Namespace != pidNamespace() {
		return Unknown
	}
	start, err := startOf(o.PID)
	switch {
	case noProcess(err):
		return Gone
	case err != nil:
		return Unknown
	case start != o.Start:
		return Gone
	}
	return Alive
}

// Note is what a holder wrote into its lock file, for messages only: another
// holder of a shared lock may have written over it.
type Note struct {
	Owner
	Since time.Time `json:"since"`
	// File is the inode of the lock file: the note in a copy of it names nobody.
	File uint64 `json:"file"`
}

// String names the holder: "pid 123 (umbra restore) since 2026-01-31 16:40:02".
func (n Note) String() string {
	return fmt.Sprintf("pid %d (%s) since %s", n.PID, n.Command, n.Since.Format(time.DateTime))
}

// Holder reads the note in a lock file. ok is false if there is none that can
// be believed: no file, no note, or the note of a process that is gone.
func Holder(path string) (note Note, ok bool) {
	file, _, err := disk.OpenRegular(path)
	if err != nil {
		return Note{}, false
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, noteSize))
	if err != nil || json.Unmarshal(content, &note) != nil || note.PID == 0 || note.File != inodeOf(file) {
		return Note{}, false
	}
	return note, note.Liveness() != Gone
}

// noteSize is the length of every note, padded with spaces: one write then
// replaces another whole, with no moment at which the file is cut.
const noteSize = 1024

// inodeOf is an open file's inode, 0 if it can't be known.
func inodeOf(file *os.File) uint64 {
	var st unix.Stat_t
	if unix.Fstat(int(file.Fd()), &st) != nil {
		return 0
	}
	return st.Ino
}

func noteBytes(owner Owner, since time.Time, file *os.File) []byte {
	if len(owner.Command) > noteSize/4 {
		owner.Command = strings.ToValidUTF8(owner.Command[:noteSize/4], "")
	}
	content, err := json.Marshal(Note{Owner: owner, Since: since, File: inodeOf(file)})
	if err != nil || len(content) > noteSize {
		return blankNote()
	}
	return append(content, blankNote()[len(content):]...)
}

func blankNote() []byte {
	blank := bytes.Repeat([]byte(" "), noteSize)
	blank[noteSize-1] = '\n'
	return blank
}
