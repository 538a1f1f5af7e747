package history

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"syscall"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/missions"
)

func Git() *call.Verb {
	var write bool
	return &call.Verb{
		Name: "git", Args: "[MISSION]", Max: 1, After: "[--] ARGS…", Short: "run git on the shadow repository, to read it",
		Begins: func(word string) bool { return slices.Contains(ReadingVerbs, word) },
		Long: `A bare log, or one with flags only, is the mission's. Missions are branches there:
umbra git log -p fix-login. The workspace is not git's work tree here.
umbra git rev-parse --absolute-git-dir prints the repository's path. To see the
missions in your own repository, as snapshots/fix-login, type there
git remote add --no-tags snapshots PATH && git fetch snapshots
(docs/history.md has more of it). What is no command of git's that reads is the name
of a mission; one that is named as such a command is, umbra git -- log NAME.`,
		Flags: []flags.Flag{flags.Bool("write", "let git write: Umbra does not check what it does", &write)},
		Run:   func(c *call.Call) error { return runGit(c, write) },
	}
}

func runGit(c *call.Call, write bool) error {
	if !c.Dashed || len(c.After) == 0 {
		return missions.Errorf(missions.KindUsage, "for example: umbra git log -p", "umbra git needs what to run")
	}
	if c.JSON {
		return missions.Errorf(missions.KindUsage, "leave out --json", "umbra git prints what git prints")
	}
	if !write {
		if err := onlyReads(c.After); err != nil {
			return err
		}
	}
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	r, err := svc.Resolve(ctx, missions.ResolveRequest{Caller: caller, Mission: c.Arg(0)})
	if err != nil {
		// Reading what the whole project has needs no mission.
		p, perr := svc.Status(ctx, missions.StatusRequest{Caller: caller})
		if c.Arg(0) != "" || perr != nil || p.Project == nil || bareLog(c.After) {
			return err
		}
		r.ShadowRepo = p.Project.ShadowRepo
	}
	if err := c.Close(); err != nil {
		return err
	}
	args := c.After
	if bareLog(args) {
		args = withRevision(args, r.Mission.Ref)
	}
	return git(c, r.ShadowRepo, args)
}

// git runs git on a repository, attached to the terminal, as hermetic as the
// calls of the Service: nothing of the user's configuration runs.
func git(c *call.Call, repo string, args []string) error {
	program, err := missions.LookPath("git", "", c.Getenv("PATH"))
	if err != nil {
		return missions.Errorf(missions.KindFailed, "install git 2.38 or newer", "the git program is not installed")
	}
	argv := []string{"git", "--git-dir=" + repo}
	settings := []string{
		"core.hooksPath=/dev/null", "core.fsmonitor=false", "core.attributesFile=/dev/null", "core.excludesFile=/dev/null",
		"gc.auto=0", "maintenance.auto=false", "protocol.allow=never", "credential.helper=", "core.editor=false",
		"commit.gpgSign=false", "tag.gpgSign=false", "gpg.program=false", "diff.external=", "log.showSignature=false",
	}
	if pager := c.Pager(); pager != "" {
		settings = append(settings, "core.pager="+pager, "color.ui=auto")
	} else {
		argv = append(argv, "--no-pager")
	}
	for _, kv := range settings {
		argv = append(argv, "-c", kv)
	}
	cmd := &exec.Cmd{
		Path: program, Args: append(argv, args...), Dir: repo, Env: GitEnv(c),
		Stdin: c.Stdin, Stdout: c.Stdout, Stderr: c.Stderr,
	}
	c.ReleaseSignals()
	ignored := make(chan os.Signal, 1)
	c.Notify(ignored, syscall.SIGINT) // it is git's and its pager's
	defer c.Unnotify(ignored)
	c.EndProgress()
	err = c.Run(cmd)
	exit, ok := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return nil
	case ok && exit.ExitCode() >= 0:
		return call.Ended(exit.ExitCode())
	case ok:
		return call.Ended(128 + int(exit.Sys().(syscall.WaitStatus).Signal()))
	}
	return missions.Errorf(missions.KindFailed, "", "run git: %w", err)
}

// GitEnv is what git needs of the environment, and nothing that steers it.
func GitEnv(c *call.Call) []string {
	env := []string{
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1",
		"GIT_AUTHOR_NAME=Umbra", "GIT_AUTHOR_EMAIL=umbra@localhost", "GIT_COMMITTER_NAME=Umbra", "GIT_COMMITTER_EMAIL=umbra@localhost",
	}
	for _, name := range []string{"PATH", "HOME", "TERM", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE", "LESSCHARSET", "COLUMNS", "NO_COLOR", "TZ"} {
		if v, set := c.LookupEnv(name); set {
			env = append(env, name+"="+v)
		}
	}
	less := "FRX"
	if v, set := c.LookupEnv("LESS"); set {
		less = v
	}
	return append(env, "LESS="+less)
}
