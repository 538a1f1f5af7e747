package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/units"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

// unit is what has the system start the daemon when its user logs in.
type unit struct {
	manager string // the program that is told of it
	File    string
	link    string // what disable removes as well, "" if that is nothing
	text    string
	enable  [][]string // what the manager is told, in order
	disable [][]string
	after   [][]string // once the file is gone
}

// AsItRuns is the unit for taking it away while what it has started goes on.
func (u unit) AsItRuns() unit {
	var disable [][]string
	for _, args := range u.disable {
		if now := slices.Index(args, "--now"); now >= 0 {
			disable = append(disable, slices.Delete(slices.Clone(args), now, now+1))
		}
	}
	u.disable = disable // launchd ends what it unloads: without the file it starts nothing at login
	return u
}

// unitOf is the unit for this system. The command is what it runs.
func unitOf(c *call.Call, system string, command []string) (unit, error) {
	home := c.Getenv("HOME")
	if !filepath.IsAbs(home) {
		return unit{}, missions.Errorf(missions.KindUsage, "set HOME", "where the system looks for units can't be told: HOME is %q", home)
	}
	switch system {
	case "linux":
		config := c.Getenv("XDG_CONFIG_HOME")
		if !filepath.IsAbs(config) {
			config = filepath.Join(home, ".config")
		}
		dir := filepath.Join(config, "systemd", "user")
		return unit{
			manager: "systemctl", File: filepath.Join(dir, units.SystemdName),
			link: filepath.Join(dir, "default.target.wants", units.SystemdName), text: units.Systemd(command, c.Getenv("PATH")),
			enable:  [][]string{{"--user", "daemon-reload"}, {"--user", "enable", "--now", units.SystemdName}},
			disable: [][]string{{"--user", "disable", "--now", units.SystemdName}}, after: [][]string{{"--user", "daemon-reload"}},
		}, nil
	case "darwin":
		file, domain := filepath.Join(home, "Library", "LaunchAgents", units.LaunchdName+".plist"), "gui/"+strconv.Itoa(os.Getuid())
		return unit{
			manager: "launchctl", File: file, text: units.Launchd(command, c.Getenv("PATH")),
			enable: [][]string{{"bootstrap", domain, file}}, disable: [][]string{{"bootout", domain + "/" + units.LaunchdName}},
		}, nil
	}
	return unit{}, missions.Errorf(missions.KindFailed, "have umbra daemon run --stay started at login", "no unit is known for %s", system)
}

// OurUnit is the unit of this system if Umbra has written the file, else "".
func OurUnit(c *call.Call) (u unit, installed bool, err error) {
	if u, err = unitOf(c, runtime.GOOS, nil); err != nil {
		return u, false, err
	}
	text, err := u.read()
	return u, bytes.Contains(text, []byte(units.Mark)), err
}

// read is what is in the unit's place, nil if nothing is.
func (u unit) read() ([]byte, error) {
	text, err := os.ReadFile(u.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, missions.Errorf(missions.KindFailed, "", "read the unit: %w", err)
	case !bytes.Contains(text, []byte(units.Mark)):
		return text, missions.Errorf(missions.KindConflict, "rename it, then try again", "%s is not Umbra's: it stays as it is", u.File)
	}
	return text, nil
}

// write puts the unit in its place, and reports whether that changed anything.
func (u unit) write() (bool, error) {
	before, err := u.read()
	if err != nil || string(before) == u.text {
		return false, err
	}
	if err := os.MkdirAll(filepath.Dir(u.File), 0o755); err != nil {
		return false, missions.Errorf(missions.KindFailed, "", "make the directory of units: %w", err)
	}
	// systemd and launchd read it when they are told to, not meanwhile.
	if err := os.WriteFile(u.File, []byte(u.text), 0o644); err != nil {
		return false, missions.Errorf(missions.KindFailed, "", "write the unit: %w", err)
	}
	return true, nil
}

// erase removes the unit, the link that the manager has made to it, and the
// directories of units that are empty then.
func (u unit) erase() error {
	if err := os.Remove(u.File); err != nil {
		return missions.Errorf(missions.KindFailed, "rm "+home.ShellQuote(u.File), "remove the unit: %w", err)
	}
	if u.link == "" {
		return nil
	}
	if to, err := os.Readlink(u.link); err == nil && filepath.Base(to) == filepath.Base(u.File) {
		if err := os.Remove(u.link); err != nil {
			return missions.Errorf(missions.KindFailed, "rm "+home.ShellQuote(u.link), "remove the unit: %w", err)
		}
	}
	wanted := filepath.Dir(u.link)
	for _, dir := range []string{wanted, filepath.Dir(wanted), filepath.Dir(filepath.Dir(wanted))} {
		_ = os.Remove(dir) // one that holds something stays
	}
	return nil
}

// tell runs the manager. Its error says what to type instead.
func tell(c *call.Call, u unit, commands [][]string) error {
	for n, args := range commands {
		if err := manage(c, u.manager, args); err != nil {
			var typed []string
			for _, rest := range commands[n:] {
				typed = append(typed, u.manager+" "+strings.Join(rest, " "))
			}
			return missions.Errorf(missions.KindFailed, strings.Join(typed, " && "), "%w", err)
		}
	}
	return nil
}

func manage(c *call.Call, manager string, args []string) error {
	program, err := missions.LookPath(manager, "", c.Getenv("PATH"))
	if err != nil {
		return err
	}
	var said bytes.Buffer
	cmd := &exec.Cmd{Path: program, Args: append([]string{manager}, args...), Env: c.Environ(), Stdout: &said, Stderr: &said}
	if err := c.Run(cmd); err != nil {
		first, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
		return fmt.Errorf("%s %s: %w: %s", manager, strings.Join(args, " "), err, first)
	}
	return nil
}
