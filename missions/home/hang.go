package home

import (
	"os"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/journal"
)

// hangMemory is how long it is remembered that the process that serves does not
// answer: an agent that calls a hook each second waits for it once in this time.
const hangMemory = time.Minute

// hangFile is there while the process that serves is known not to answer.
func (h Home) hangFile() string { return h.Path("hangs-" + h.Machine) }

// NoteHang remembers for a while that the process that serves the home does not
// answer, so that not each hook waits for it anew.
func (h Home) NoteHang() {
	if h.Machine == "" {
		return // there is no home
	}
	// If it can't be written, the next hook waits again.
	_ = journal.WriteVolatile(h.Dir, h.hangFile(), 0o600, nil)
}

// Hangs reports whether a process that has the home lock was found not to answer, a
// while ago at most. Once that while is over one caller is told no, so that it tries
// again, and those beside it are told yes.
func (h Home) Hangs() bool {
	info, err := os.Stat(h.hangFile())
	if err != nil || h.Machine == "" {
		return false
	}
	if _, _, held := h.LockHolder(); !held {
		return false
	}
	if age := time.Since(info.ModTime()); age >= 0 && age < hangMemory {
		return true
	}
	h.NoteHang()
	return false
}

// ForgetHang is for the process that serves: it answers.
func (h Home) ForgetHang() { _ = os.Remove(h.hangFile()) }
