package trash

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/expiry"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/settings"
)

// expiryRest is how long after a look that did not come to its end the next is begun.
const expiryRest = time.Hour

// Ages keep how old the things of one kind are that are to go by themselves, where the
// configuration asks for that.
type Ages struct {
	Desk *projects.Desk
	File string // in the home
	Lock string // below locks in the home
	// Keep is for how long they stay, 0 for ever.
	Keep func(settings.Retention) settings.Duration
}

// Aged is what is remembered of them. Where the file is lost or damaged, every age is counted
// anew.
type Aged struct {
	Home string `json:"home"` // a copy of a home, such as a backup, counts anew
	expiry.Counts
	TriedAt time.Time `json:"tried,omitzero"` // when a look was begun last
	WentAt  time.Time `json:"went_at,omitzero"`
	Went    int       `json:"went,omitempty"`
	Bytes   int64     `json:"bytes,omitempty"`
	Problem string    `json:"problem,omitempty"`
	Fix     string    `json:"fix,omitempty"`
}

func (g Ages) file() string { return g.Desk.Home.Path(g.File) }

// Read reads what is remembered. A copy that has kept its time was changed after it.
func (g Ages) Read() (a Aged) {
	info, err := os.Stat(g.file())
	if err != nil || home.ChangeTime(info)-info.ModTime().UnixNano() > int64(time.Minute) {
		return Aged{}
	}
	text, err := disk.ReadFile(g.file())
	if err != nil || json.Unmarshal(text, &a) != nil || a.Home != g.Desk.Home.Dir {
		return Aged{}
	}
	return a
}

// Write remembers.
func (g Ages) Write(a Aged) error {
	a.Home = g.Desk.Home.Dir
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return journal.WriteVolatile(g.Desk.Home.Dir, g.file(), 0o600, append(text, '\n'))
}

// Asked is for how long things stay, 0 for ever. The file of the configuration says so, as it is
// now; one that is broken or gone asks for nothing. A variable can only switch it off.
func (g Ages) Asked() time.Duration {
	if g.Keep(g.Desk.Config.Retention) <= 0 {
		return 0
	}
	config, broken, err := g.Desk.Home.ReadConfig()
	if err != nil || broken != nil {
		return 0
	}
	return time.Duration(g.Keep(config.Retention))
}

// IsDue reports whether a process is to be started that looks. It is cheap enough for each idle
// point.
func (g Ages) IsDue() bool {
	if g.Asked() <= 0 {
		return false
	}
	a, now := g.Read(), g.Desk.Now()
	return a.IsDue(now) && now.Sub(a.TriedAt).Abs() >= expiryRest
}

// NoteBegun notes that such a process is about to be started: another is not for a while,
// whatever becomes of this one.
func (g Ages) NoteBegun() error {
	held, err := g.Hold()
	if held == nil || err != nil {
		return err
	}
	a := g.Read()
	a.TriedAt = g.Desk.Now()
	return errors.Join(g.Write(a), held.Release())
}

// Hold keeps all but one process from looking; nil: another has it.
func (g Ages) Hold() (*lock.Lock, error) {
	held, err := lock.Try(g.Desk.Home.Path("locks", g.Lock), lock.Exclusive, g.Desk.Self)
	if errors.Is(err, lock.ErrHeld) {
		return nil, nil
	}
	return held, err
}

// LookWhenDue has look count on how old things are and have those go that are old enough, if
// that is due and no other process is at it.
func (g Ages) LookWhenDue(ctx context.Context, look func(keep time.Duration, a *Aged) error) error {
	keep := g.Asked()
	if keep <= 0 || !g.Read().IsDue(g.Desk.Now()) {
		return nil
	}
	held, err := g.Hold()
	if held == nil || err != nil {
		return err
	}
	defer func() { _ = held.Release() }()
	a := g.Read()
	if !a.IsDue(g.Desk.Now()) {
		return nil // another process has just done it
	}
	a.TriedAt = g.Desk.Now()
	if err := g.Write(a); err != nil {
		return err
	}
	failed := look(keep, &a)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if failed != nil && missions.AsError(failed).Kind == missions.KindBusy {
		return g.Write(a) // it is tried again
	}
	if a.Problem, a.Fix = "", ""; failed != nil {
		said := missions.AsError(failed)
		a.Problem, a.Fix = said.Message, said.Hint
	}
	return errors.Join(failed, g.Write(a))
}
