package commands

import (
	"context"
	"io"
	"log/slog"
	"os"
	"sync"

	"github.com/umbra-vcs/umbra/missions"
)

// connect is the one place that decides where the Service runs.
func connect(_ context.Context, env Env, globals Globals) (missions.Service, io.Closer, error) {
	return inProcess(env, globals)
}

// inProcess opens the Service here.
func inProcess(env Env, globals Globals) (missions.Service, io.Closer, error) {
	dir, err := globals.homeDir(env)
	if err != nil {
		return nil, nil, err
	}
	home, err := missions.OpenHome(dir)
	if err != nil {
		return nil, nil, err
	}
	config, err := missions.LoadConfig(home.ConfigFile())
	if err != nil {
		return nil, nil, err
	}
	file := &logFile{name: home.LogFile()}
	local, err := missions.NewLocal(missions.Options{
		Home: home, Config: config, Adapters: missions.Agents(), Clock: env.Now, Version: version(),
		Log: slog.New(slog.NewTextHandler(file, nil)),
	})
	if err != nil {
		return nil, nil, err
	}
	return local, closers{local, file}, nil
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

// logFile appends to a file that is opened when there is something to say. It is
// safe for concurrent use.
type logFile struct {
	name string
	mu   sync.Mutex
	file *os.File
}

func (l *logFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		f, err := os.OpenFile(l.name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return 0, err
		}
		l.file = f
	}
	return l.file.Write(p)
}

func (l *logFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	f := l.file
	l.file = nil
	return f.Close()
}
