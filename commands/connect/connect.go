// Package connect decides where the Service of a command runs: in the daemon, with whoever
// serves the home, or in this process.
package connect

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/umbra-vcs/umbra/commands/automations"
	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/version"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/local"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/settings"
	"github.com/umbra-vcs/umbra/watcher/client"
)

// Service is the one place that decides where the Service runs: in the daemon,
// which it starts if there is none; in this process, where that was asked for, by
// variables that override how work is done too, this process sees other files than a
// daemon would, or none can be started since nothing can be written in the home; or in
// a command that stays. Beside a daemon that does not answer, what only reads is done in
// this process.
func Service(ctx context.Context, env call.Env, globals call.Globals) (missions.Service, io.Closer, error) {
	if _, err := settings.Default().OverriddenBy(env.Getenv); err != nil && !globals.Heeded {
		return nil, nil, err
	}
	own := settings.OverridesWork(env.Getenv)
	if globals.NoDaemon && globals.Reach == call.Alone {
		return inProcess(env, globals)
	}
	o, err := Options(env, globals)
	if err != nil {
		return nil, nil, err
	}
	if own && (globals.Reach != call.Staying || Held(o.Home)) {
		return inProcess(env, globals)
	}
	if globals.NoDaemon || own {
		return withoutDaemon(ctx, env, globals, o)
	}
	served, err := client.Connect(ctx, o)
	switch {
	case err == nil:
		return served, served, nil
	case errors.Is(err, client.ErrElsewhere), errors.Is(err, home.ErrUnwritable):
		return inProcess(env, globals)
	case errors.Is(err, client.ErrHangs) && globals.Reach == call.Alone:
		own, closer, oerr := inProcess(env, globals)
		if oerr != nil {
			return nil, nil, err
		}
		return client.BesideHung(own, err), closer, nil
	case globals.Reach == call.Staying && missions.AsError(err).Kind == missions.KindNoDaemon && ctx.Err() == nil:
		if svc, closer, serr := stay(ctx, env, o); serr == nil {
			return svc, closer, nil
		}
	}
	return nil, nil, err
}

// withoutDaemon starts none, but asks whoever serves, or serves itself.
func withoutDaemon(ctx context.Context, env call.Env, globals call.Globals, o client.Options) (missions.Service, io.Closer, error) {
	o.Start = nil
	if globals.Reach == call.Joining {
		// Nobody is waited for who does not come: each hook of an agent would.
		if !Held(o.Home) {
			return inProcess(env, globals)
		}
		if served, err := client.Connect(ctx, o); err == nil {
			return served, served, nil
		}
	} else if !client.Sandboxed() && o.Home.ProbeWritable() == nil {
		if svc, closer, err := stay(ctx, env, o); err == nil {
			return svc, closer, nil
		}
	}
	return inProcess(env, globals)
}

// Held reports whether a process serves the home, begins to, or ends.
func Held(home home.Home) bool {
	_, _, held := home.LockHolder()
	return held
}

// Options say which daemon is meant, and how it is started.
func Options(env call.Env, globals call.Globals) (client.Options, error) {
	dir, err := globals.HomeDir(env)
	if err != nil {
		return client.Options{}, err
	}
	home, err := home.Open(dir)
	if err != nil {
		return client.Options{}, err
	}
	o := client.Options{Home: home, Version: version.Current(), Environ: env.Environ()}
	if binary, err := env.Executable(); err == nil {
		o.Start = []string{binary, "daemon", "run", "--home", home.Dir}
	}
	return o, nil
}

// inProcess opens the Service here. This process ends before it has an idle moment: what is
// to be done in one is done by another.
func inProcess(env call.Env, globals call.Globals) (missions.Service, io.Closer, error) {
	service, closer, err := open(env, globals)
	if err != nil {
		return nil, nil, err
	}
	service.StartHousekeeper = HousekeepingStarter(env, service.Home)
	return local.Gate(service, service.Space), closer, nil
}

func open(env call.Env, globals call.Globals) (*local.Service, io.Closer, error) {
	dir, err := globals.HomeDir(env)
	if err != nil {
		return nil, nil, err
	}
	h, err := home.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	config, broken, err := h.ReadConfig()
	if err == nil && !globals.Heeded {
		err = broken
	}
	if err != nil {
		return nil, nil, err
	}
	getenv := env.Getenv
	if config, err = config.OverriddenBy(getenv); err != nil {
		if !globals.Heeded {
			return nil, nil, err
		}
		getenv = nil
	}
	file := &LogFile{Name: h.LogFile()}
	space := home.NewSpace(h, config.Storage, nil)
	service, err := local.New(local.Options{
		Home: h, Config: config, Getenv: getenv, Broken: broken, Space: space, Adapters: projects.Agents(), Clock: env.Now,
		Log: slog.New(slog.NewTextHandler(file, nil)), Automate: automations.Starter(env),
	})
	if err != nil {
		return nil, nil, err
	}
	return service, closers{service, file}, nil
}

// closers are closed in order; the first error is returned.
type closers []io.Closer

func (list closers) Close() error {
	var first error
	for _, c := range list {
		if err := c.Close(); first == nil {
			first = err
		}
	}
	return first
}

// LogFile appends to a file that is opened when there is something to say. It is
// safe for concurrent use.
type LogFile struct {
	Name string
	mu   sync.Mutex
	file *os.File
}

func (l *LogFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		f, err := os.OpenFile(l.Name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return 0, err
		}
		l.file = f
	}
	return l.file.Write(p)
}

func (l *LogFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	f := l.file
	l.file = nil
	return f.Close()
}

// Patience is how long a daemon may take to start or to stop.
const Patience = 10 * time.Second
