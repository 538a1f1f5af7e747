package daemon

import (
	"context"
	"errors"
	"os"
	"runtime/debug"
	"time"

	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/missions/home"
)

// HousekeepQuiet is for how long nothing must have been stored before repositories are
// repacked.
const HousekeepQuiet = 10 * time.Second

// Options say what is served.
type Options struct {
	Home    home.Home
	Version string
	// Command is what people know the process as; "umbra daemon" if empty.
	Command string
	// Getenv reads the process's environment: where sockets may be, and what
	// overrides the configuration.
	Getenv func(string) string
	// IdleExit is how long the daemon stays with no call and no live mission;
	// 30 minutes if 0.
	IdleExit time.Duration
	// RestAfter is how long nobody must have asked for anything before caches
	// are written and memory is given back; 5 s if 0.
	RestAfter time.Duration
	// ForgetAfter is how long what is cached of a workspace outlives its last
	// agent: the next one often comes soon; 30 minutes if 0.
	ForgetAfter time.Duration
	// MaxWatches bounds how many directories are watched; the system's limit
	// alone if 0.
	MaxWatches int
	// Clock says what is written down as the time of what happens; nil: the
	// system's. It may be set back.
	Clock func() time.Time
	// FreeSpace asks the system for the bytes free to this user; tests lie.
	FreeSpace func(dir string) (uint64, error)
	// HousekeepQuiet is how long no call that writes must have come before
	// repositories are repacked; the constant if 0.
	HousekeepQuiet time.Duration
	// OverdueEvery is how often it is looked whether that is overdue, while calls
	// come all the time; 20 s if 0.
	OverdueEvery time.Duration
	// Tick is how often processes and workspaces are looked after; 1 s if 0.
	Tick time.Duration
	// VerifyEvery is how long nothing happens in a workspace before it is walked
	// to see whether that is so; 10 minutes if 0.
	VerifyEvery time.Duration
	// Automate is that of missions.Options.
	Automate func(agents.Automation) error
	// StartHousekeeper starts a process that does the housekeeping of the project in dir, and
	// prunes it: nil, and nothing is pruned by itself.
	StartHousekeeper func(dir string) error
	// Asleep asks the system how long the machine has slept; tests lie.
	Asleep func() time.Duration
}

func (o *Options) fill() {
	if o.Command == "" {
		o.Command = "umbra daemon"
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.IdleExit <= 0 {
		o.IdleExit = 30 * time.Minute
	}
	if o.ForgetAfter <= 0 {
		o.ForgetAfter = 30 * time.Minute
	}
	if o.RestAfter <= 0 {
		o.RestAfter = 5 * time.Second
	}
	if o.HousekeepQuiet <= 0 {
		o.HousekeepQuiet = HousekeepQuiet
	}
	if o.OverdueEvery <= 0 {
		o.OverdueEvery = 20 * time.Second
	}
	if o.Tick <= 0 {
		o.Tick = time.Second
	}
	if o.VerifyEvery <= 0 {
		o.VerifyEvery = 10 * time.Minute
	}
	if o.Asleep == nil {
		o.Asleep = asleep
	}
}

// spareMemory trades some time for memory in a process that stays: most of what
// it holds is the workspaces' files, which change little. The user's own GOGC
// counts more.
func spareMemory(o Options) {
	if o.Getenv == nil || o.Getenv("GOGC") == "" {
		debug.SetGCPercent(60)
	}
}

// Run serves until the context ends, a client asks the process to leave, or
// there was nothing to do for long. When the user's configuration changes it
// begins anew with it. If another process serves the home already, that is as
// good: Run returns nil at once.
func Run(ctx context.Context, o Options) error {
	spareMemory(o)
	for {
		s, err := Start(ctx, o)
		if errors.Is(err, home.ErrHeld) {
			return nil
		}
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-s.Leaving():
		}
		if err := s.Close(); err != nil || !s.tenure.again.Load() || ctx.Err() != nil {
			return err
		}
	}
}
