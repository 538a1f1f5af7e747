package remotes

import (
	"bufio"
	"errors"
	"io"
	"os"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/seal"
	"github.com/umbra-vcs/umbra/gitstore/transfer"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

// headBytes is how much of a file says what it is.
const headBytes = 32

// openedFile is a file of missions as git reads it.
type openedFile struct {
	at    transfer.Remote
	plain *os.File // what was encrypted, until it is closed; nil of another file
}

func (o openedFile) close() {
	if o.plain != nil {
		_ = journal.DropTemp(o.plain) // a start of the daemon sweeps what could not be removed
	}
}

// openFile opens a file that was imported. If it is encrypted, all of it is proved and read
// before anybody looks at what is in it.
func (c *Carrier) openFile(r savedRemote, caller missions.Caller) (o openedFile, err error) {
	o.at = c.remote(r, caller)
	f, err := disk.Open(r.URL)
	if err != nil {
		return o, missions.Errorf(missions.KindNotFound, "put it back, or umbra import one that is there", "read %s: %w", r.URL, err)
	}
	defer f.Close()
	in := bufio.NewReader(f)
	head, _ := in.Peek(headBytes) // a shorter one is none
	again := "umbra import " + home.ShellQuote(r.URL)
	switch {
	case !seal.Begins(head) && r.KeyFile != "":
		return o, missions.Errorf(missions.KindUsage, again+", without --key", "%s is not encrypted", r.URL)
	case !seal.Begins(head):
		return o, nil
	case r.KeyFile == "":
		return o, missions.Errorf(missions.KindUsage, again+" --key KEYFILE, with the key that it was exported with", "%s is encrypted", r.URL)
	}
	key, err := keyIn(r.KeyFile)
	if err != nil {
		return o, err
	}
	text, err := key.Open(in)
	if errors.Is(err, seal.ErrOtherKey) {
		return o, missions.Errorf(missions.KindConflict, again+" --key KEYFILE, with the right one", "%s is not for the key in %s: %w; nothing was imported", r.URL, r.KeyFile, err)
	}
	damaged := func(err error) error {
		return missions.Errorf(missions.KindDamaged, "bring it again from where it was exported", "%s can't be read: %w; nothing was imported", r.URL, err)
	}
	if err != nil {
		return o, damaged(err)
	}
	if o.plain, err = journal.CreateTemp(c.Home.Dir); err != nil {
		return o, err
	}
	o.at.URL = o.plain.Name()
	if _, err = io.Copy(o.plain, text); err == nil {
		return o, nil
	}
	o.close()
	var onDisk *os.PathError // of reading or writing, not of what was read
	if errors.As(err, &onDisk) {
		return o, err
	}
	return o, damaged(err)
}
