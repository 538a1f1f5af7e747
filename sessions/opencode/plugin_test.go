package opencode

import (
	"bytes"
	"strings"
	"testing"
)

// TestPluginAmongOwnLines: what a user writes about the plugin stays, whether it
// is installed anew or taken out.
func TestPluginAmongOwnLines(t *testing.T) {
	a := Adapter{}
	const mine = "// mine\n"
	installed, err := a.InstallHooks(nil, "umbra hook opencode")
	if err != nil {
		t.Fatal(err)
	}
	for name, about := range map[string][2]string{
		"alone": {"", ""}, "before": {mine, ""}, "after": {"", mine}, "both": {mine, mine}, "an unfinished line": {"", "// mine"},
	} {
		t.Run(name, func(t *testing.T) {
			file := []byte(about[0] + string(installed) + about[1])
			moved, err := a.InstallHooks(file, "elsewhere/umbra hook opencode")
			if err != nil || !bytes.HasPrefix(moved, []byte(about[0])) || !bytes.HasSuffix(moved, []byte(about[1])) {
				t.Fatalf("installed again: %q, %v", moved, err)
			}
			if commands, missing, err := a.HookCommands(moved); err != nil || len(commands) != 1 || commands[0] != "elsewhere/umbra hook opencode" || missing != nil {
				t.Errorf("the plugin calls %q, lacks %q, %v", commands, missing, err)
			}
			back, remove, err := a.UninstallHooks(moved)
			if want := about[0] + about[1]; err != nil || string(back) != want || remove != (want == "") {
				t.Errorf("taken out: %q, remove %t, %v; want %q", back, remove, err, want)
			}
		})
	}
}

// TestPluginChanged: a plugin in which its user has changed a line is neither
// replaced nor removed, and is said to be none of Umbra's.
func TestPluginChanged(t *testing.T) {
	a := Adapter{}
	installed, err := a.InstallHooks(nil, "umbra hook opencode")
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(string) string{
		"a line":       func(s string) string { return strings.Replace(s, "15000", "16000", 1) },
		"another line": func(s string) string { return strings.Replace(s, "\nclass", "\n// mine\nclass", 1) },
		"its end":      func(s string) string { return s[:strings.LastIndex(s, plugin().Last)] },
		"torn":         func(s string) string { return s[:len(s)-3] },
		"line ends":    func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
	} {
		t.Run(name, func(t *testing.T) {
			file := []byte(change(string(installed)))
			if bytes.Equal(file, installed) {
				t.Fatal("nothing was changed")
			}
			if out, err := a.InstallHooks(file, "umbra hook opencode"); err == nil {
				t.Errorf("replaced by %q", out)
			}
			if out, remove, err := a.UninstallHooks(file); err == nil {
				t.Errorf("taken out: %q, remove %t", out, remove)
			}
			if commands, _, err := a.HookCommands(file); err == nil {
				t.Errorf("it calls %q", commands)
			}
		})
	}
}
