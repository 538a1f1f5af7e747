package daemon

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/units"
)

// TestLaunchdPlist reads the property list as any reader of XML does: it is not
// run here, where there is no launchd.
func TestLaunchdPlist(t *testing.T) {
	t.Parallel()
	command := []string{"/Users/ada & co/umbra", "daemon", "run", "--home", "/Users/<ada>"}
	text := units.Launchd(command, "/bin:/opt/a&b")
	var strs []string
	keys := map[string]bool{}
	d := xml.NewDecoder(strings.NewReader(text))
	for at := ""; ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in:\n%s", err, text)
		}
		switch token := token.(type) {
		case xml.StartElement:
			at = token.Name.Local
		case xml.EndElement:
			at = ""
		case xml.CharData:
			if at == "string" {
				strs = append(strs, string(token))
			} else if at == "key" {
				keys[string(token)] = true
			}
		}
	}
	if want := strings.Join(append(append([]string{units.LaunchdName}, command...), "/bin:/opt/a&b", "Background", ""), "\n"); strings.Join(strs, "\n")+"\n" != want {
		t.Errorf("strings %q", strs)
	}
	for _, key := range []string{"Label", "ProgramArguments", "EnvironmentVariables", "RunAtLoad", "KeepAlive"} {
		if !keys[key] {
			t.Errorf("no key %s", key)
		}
	}
	if !strings.Contains(text, units.Mark) {
		t.Error("it does not say whose it is")
	}
}

// TestSystemdUnit: what means something to systemd in a path is told as it is.
func TestSystemdUnit(t *testing.T) {
	t.Parallel()
	text := units.Systemd([]string{`/home/a b/100%/umbra`, "--home", `/h/$x"\`}, `/bin:/a%b $c`)
	for _, want := range []string{
		`ExecStart="/home/a b/100%%/umbra" "--home" "/h/$$x\"\\"` + "\n",
		`Environment="PATH=/bin:/a%%b $c"` + "\n",
		"# " + units.Mark + "\n", "WantedBy=default.target\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}

// TestUnitsOfOtherSystems: where no unit is known, what to do is said.
func TestUnitsOfOtherSystems(t *testing.T) {
	t.Parallel()
	c := &call.Call{Env: call.Env{Getenv: func(name string) string { return map[string]string{"HOME": "/home/ada"}[name] }}}
	if u, err := unitOf(c, "darwin", nil); err != nil || u.File != "/home/ada/Library/LaunchAgents/"+units.LaunchdName+".plist" || u.manager != "launchctl" {
		t.Errorf("darwin: %+v %v", u, err)
	}
	if u, err := unitOf(c, "linux", nil); err != nil || u.File != "/home/ada/.config/systemd/user/umbra.service" {
		t.Errorf("linux: %+v %v", u, err)
	}
	if _, err := unitOf(c, "plan9", nil); err == nil || !strings.Contains(err.Error(), "no unit is known") {
		t.Errorf("plan9: %v", err)
	}
	c.Getenv = func(string) string { return "" }
	if _, err := unitOf(c, "linux", nil); err == nil {
		t.Error("without HOME")
	}
}
