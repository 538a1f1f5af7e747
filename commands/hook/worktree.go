package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/payload"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/worktrees"
)

// An agent that asks for a worktree gets none from anybody else: where this hook fails, so
// does what its user wanted. Whatever is wrong, each step here ends in time, and the last
// one asks Git alone.
const (
	forkTime  = payload.WorktreeBudget + 10*time.Second // what the Service has, and to end well
	plainTime = time.Minute
	noteTime  = 2 * time.Second
)

// isWorktreeCall reports whether a hook may be one that is asked for a worktree, by its
// command line.
func isWorktreeCall(args []string) bool {
	return len(args) == 2 || len(args) == 3 && (args[2] == "--plugin" || args[2] == "--strict")
}

// answerWorktree does what an agent asks about a worktree, and gives the hook's exit code.
func answerWorktree(env call.Env, asked worktrees.Asked, event []byte) int {
	var dir string
	var err error
	if asked.Remove != "" {
		err = removeWorktree(env, asked, event)
	} else {
		dir, err = makeWorktree(env, asked, event)
	}
	if err != nil {
		fmt.Fprintln(env.Stderr, "umbra:", err) // the agent shows it
		return 1
	}
	if dir != "" {
		fmt.Fprintln(env.Stdout, dir)
	}
	return 0
}

// makeWorktree gives the directory of a worktree: that of the name if there is one, or a
// fork, or what Git makes.
func makeWorktree(env call.Env, asked worktrees.Asked, event []byte) (string, error) {
	dir, why := inTime(forkTime, func() (string, error) { return forkWorktree(env, asked, event) })
	if why == nil {
		return dir, nil
	}
	_, _ = inTime(noteTime, func() (string, error) {
		Note(env, call.Globals{}, fmt.Errorf("the worktree %s is none of Umbra's: %w", asked.Name, why))
		return "", nil
	})
	dir, err := inTime(plainTime, func() (string, error) { return plainWorktree(env, asked) })
	if err != nil {
		return "", fmt.Errorf("%w; and Git made no worktree: %w", why, err)
	}
	_, _ = inTime(noteTime, func() (string, error) { return "", notePlain(env, asked, dir, why) })
	return dir, nil
}

// inTime does something that may hang, or go wrong in any way, and is left behind then.
func inTime(limit time.Duration, do func() (string, error)) (string, error) {
	type outcome struct {
		dir string
		err error
	}
	ended := make(chan outcome, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				ended <- outcome{err: fmt.Errorf("umbra hook: %v", r)}
			}
		}()
		dir, err := do()
		ended <- outcome{dir, err}
	}()
	select {
	case o := <-ended:
		return o.dir, o.err
	case <-time.After(limit):
		return "", errors.New("it took too long")
	}
}

// forkWorktree is the worktree that is there, or a fork. What is there is found without the
// Service: the same name has the same place also while that hangs.
func forkWorktree(env call.Env, asked worktrees.Asked, event []byte) (string, error) {
	r, err := worktrees.RepositoryAt(asked.Cwd)
	if err != nil {
		return "", err
	}
	if dir, ok := r.Plain(asked.Name); ok {
		return dir, nil
	}
	if h, ok := findHome(env); ok {
		if place, known := r.Known(h, asked.Name); known {
			return place.Dir, nil
		}
	}
	said, err := askService(env, event)
	if err != nil {
		return "", err
	}
	lines := strings.Split(strings.TrimSpace(said), "\n")
	dir := lines[len(lines)-1]
	if info, err := os.Stat(dir); err != nil || !info.IsDir() || !filepath.IsAbs(dir) {
		return "", fmt.Errorf("umbra made no directory of it: %q", dir)
	}
	return dir, nil
}

func findHome(env call.Env) (home.Home, bool) {
	dir, err := home.DefaultDir(env.Getenv)
	if err != nil {
		return home.Home{}, false
	}
	return home.Find(dir)
}

// askService hands the event in as any hook's is, and gives what that prints. It ends when
// the time for such an event is over.
func askService(env call.Env, event []byte) (string, error) {
	var out, errs bytes.Buffer
	in := env
	in.Args, in.Stdin, in.Stdout, in.Stderr = []string{"hook", env.Args[1], "--strict"}, bytes.NewReader(event), &out, &errs
	in.IsTerminal = func(any) bool { return false }
	in.Began, in.Hangs = time.Time{}, false
	if code := env.Again(in); code != 0 {
		said, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(errs.String()), "umbra: "), "\n")
		return "", errors.New(said)
	}
	return out.String(), nil
}

// plainWorktree is the worktree that Git makes.
func plainWorktree(env call.Env, asked worktrees.Asked) (string, error) {
	r, err := worktrees.RepositoryAt(asked.Cwd)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), plainTime)
	defer cancel()
	return r.MakePlain(ctx, environOf(env), asked.Name)
}

// environOf is the environment as a table.
func environOf(env call.Env) map[string]string {
	table := map[string]string{}
	for _, one := range env.Environ() {
		if name, value, ok := strings.Cut(one, "="); ok {
			table[name] = value
		}
	}
	return table
}

// notePlain has umbra status say that a worktree is a plain one, and why.
func notePlain(env call.Env, asked worktrees.Asked, dir string, why error) error {
	h, ok := findHome(env)
	if !ok {
		return nil
	}
	r, err := worktrees.RepositoryAt(asked.Cwd)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), noteTime)
	defer cancel()
	return r.Note(ctx, h, worktrees.Place{Name: asked.Name, Dir: dir, Why: missions.AsError(why).Message, At: env.Now()})
}

// removeWorktree has a worktree removed. The agent believes what it is told: only a
// directory that is gone is told to be.
func removeWorktree(env call.Env, asked worktrees.Asked, event []byte) error {
	_, err := inTime(forkTime, func() (string, error) { return askService(env, event) })
	if err != nil {
		return err
	}
	if _, err := os.Lstat(asked.Remove); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s is still there", asked.Remove)
	}
	return nil
}
