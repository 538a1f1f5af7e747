package commands

import (
	"bytes"
	"encoding/xml"
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

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

// unit is what has the system start the daemon when its user logs in.
type unit struct {
	manager string // the program that is told of it
	file    string
	link    string // what disable removes as well, "" if that is nothing
	text    string
	enable  [][]string // what the manager is told, in order
	disable [][]string
	after   [][]string // once the file is gone
}

// asItRuns is the unit for taking it away while what it has started goes on.
func (u unit) asItRuns() unit {
	var disable [][]string
	for _, args := range u.disable {
		if now := slices.Index(args, "--now"); now >= 0 {
			disable = append(disable, slices.Delete(slices.Clone(args), now, now+1))
		}
	}
	u.disable = disable // launchd ends what it unloads: without the file it starts nothing at login
	return u
}

// unitMark is in every unit that Umbra has written, so that no other one is ever
// replaced or removed.
const unitMark = "Written by umbra daemon install; umbra daemon uninstall removes it."

const (
	systemdName = "umbra.service"
	launchdName = "com.github.umbra-vcs.umbra"
)

// unitOf is the unit for this system. The command is what it runs.
func (c *call) unitOf(system string, command []string) (unit, error) {
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
		units := filepath.Join(config, "systemd", "user")
		return unit{
			manager: "systemctl", file: filepath.Join(units, systemdName), link: filepath.Join(units, "default.target.wants", systemdName), text: systemdUnit(command, c.Getenv("PATH")),
			enable:  [][]string{{"--user", "daemon-reload"}, {"--user", "enable", "--now", systemdName}},
			disable: [][]string{{"--user", "disable", "--now", systemdName}}, after: [][]string{{"--user", "daemon-reload"}},
		}, nil
	case "darwin":
		file, domain := filepath.Join(home, "Library", "LaunchAgents", launchdName+".plist"), "gui/"+strconv.Itoa(os.Getuid())
		return unit{
			manager: "launchctl", file: file, text: launchdPlist(command, c.Getenv("PATH")),
			enable: [][]string{{"bootstrap", domain, file}}, disable: [][]string{{"bootout", domain + "/" + launchdName}},
		}, nil
	}
	return unit{}, missions.Errorf(missions.KindFailed, "have umbra daemon run --stay started at login", "no unit is known for %s", system)
}

// ourUnit is the unit of this system if Umbra has written the file, else "".
func (c *call) ourUnit() (u unit, installed bool, err error) {
	if u, err = c.unitOf(runtime.GOOS, nil); err != nil {
		return u, false, err
	}
	text, err := u.read()
	return u, bytes.Contains(text, []byte(unitMark)), err
}

// read is what is in the unit's place, nil if nothing is.
func (u unit) read() ([]byte, error) {
	text, err := os.ReadFile(u.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, missions.Errorf(missions.KindFailed, "", "read the unit: %w", err)
	case !bytes.Contains(text, []byte(unitMark)):
		return text, missions.Errorf(missions.KindConflict, "rename it, then try again", "%s is not Umbra's: it stays as it is", u.file)
	}
	return text, nil
}

// write puts the unit in its place, and reports whether that changed anything.
func (u unit) write() (bool, error) {
	before, err := u.read()
	if err != nil || string(before) == u.text {
		return false, err
	}
	if err := os.MkdirAll(filepath.Dir(u.file), 0o755); err != nil {
		return false, missions.Errorf(missions.KindFailed, "", "make the directory of units: %w", err)
	}
	// systemd and launchd read it when they are told to, not meanwhile.
	if err := os.WriteFile(u.file, []byte(u.text), 0o644); err != nil {
		return false, missions.Errorf(missions.KindFailed, "", "write the unit: %w", err)
	}
	return true, nil
}

// erase removes the unit, the link that the manager has made to it, and the
// directories of units that are empty then.
func (u unit) erase() error {
	if err := os.Remove(u.file); err != nil {
		return missions.Errorf(missions.KindFailed, "rm "+home.ShellQuote(u.file), "remove the unit: %w", err)
	}
	if u.link == "" {
		return nil
	}
	if to, err := os.Readlink(u.link); err == nil && filepath.Base(to) == filepath.Base(u.file) {
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
func (c *call) tell(u unit, commands [][]string) error {
	for n, args := range commands {
		if err := c.manage(u.manager, args); err != nil {
			var typed []string
			for _, rest := range commands[n:] {
				typed = append(typed, u.manager+" "+strings.Join(rest, " "))
			}
			return missions.Errorf(missions.KindFailed, strings.Join(typed, " && "), "%w", err)
		}
	}
	return nil
}

func (c *call) manage(manager string, args []string) error {
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

// systemdUnit is a user unit (systemd.service(5)). It has no sandboxing: a daemon
// that sees other files than its clients do is of no use to them.
func systemdUnit(command []string, path string) string {
	words := make([]string, len(command))
	for i, word := range command {
		words[i] = systemdWord(strings.ReplaceAll(word, "$", "$$"))
	}
	return "# " + unitMark + `
[Unit]
Description=Umbra, which keeps every state of AI agents' work
Documentation=https://github.com/umbra-vcs/umbra

[Service]
Type=exec
ExecStart=` + strings.Join(words, " ") + `
Environment=` + systemdWord("PATH="+path) + `
Restart=on-failure
RestartSec=5
KillMode=mixed

[Install]
WantedBy=default.target
`
}

// systemdWord quotes a word (systemd.syntax(7)); % begins a specifier
// (systemd.unit(5)).
func systemdWord(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "\n", `\n`).Replace(s) + `"`
}

// launchdPlist is a user agent (launchd.plist(5)).
func launchdPlist(command []string, path string) string {
	var words strings.Builder
	for _, word := range command {
		fmt.Fprintf(&words, "\t\t<string>%s</string>\n", escapedXML(word))
	}
	return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- ` + unitMark + ` -->
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>` + launchdName + `</string>
	<key>ProgramArguments</key>
	<array>
` + words.String() + `	</array>
	<key>EnvironmentVariables</key>
	<dict>
		<key>PATH</key>
		<string>` + escapedXML(path) + `</string>
	</dict>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>ProcessType</key>
	<string>Background</string>
</dict>
</plist>
`
}

func escapedXML(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // a buffer takes everything
	return b.String()
}
