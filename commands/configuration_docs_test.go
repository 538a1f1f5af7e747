package commands

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/commands/calltest"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// TestConfigurationPage has each block of docs/configuration.md read as the user's
// configuration, and what its commands say run.
func TestConfigurationPage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "docs", "configuration.md"))
	calltest.Must(t, err)
	page := string(text)
	p := newTypist(t)
	yaml := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(page, -1)
	if len(yaml) != 2 {
		t.Fatalf("%d blocks of YAML", len(yaml))
	}
	file := filepath.Join(p.home, ".local", "share", "umbra", "config.yml")
	for _, m := range yaml {
		p.sh("umbra config path >/dev/null")
		calltest.Must(t, os.MkdirAll(filepath.Dir(file), 0o700))
		calltest.Must(t, os.WriteFile(file, []byte(m[1]), 0o600))
		p.says(m[1])
	}

	// The block of automations is in force: of the agent's turn, and of its end.
	p.program("notify-send", `echo "$1" >>~/notified`)
	p.program("make", `echo "$*" >>~/made`)
	p.sh("umbra mission new --name login --prompt 'add a login page' </dev/null")
	p.becomes("notified", "login waits for you\n")
	p.becomes("made", "-s report\n")
	p.becomes("missions.txt", "login ended with 0\n")

	// launch.open, with what the first block says of it.
	calltest.Must(t, os.WriteFile(file, []byte(yaml[0][1]), 0o600))
	p.program("tmux", `echo "$*" >>~/opened`)
	p.sh("umbra fork login --count 2 --name try")
	opened, err := os.ReadFile(filepath.Join(p.home, "opened"))
	if want := regexp.MustCompile(`^(split-window -h umbra mission resume [0-9a-f-]{36}\n){2}$`); err != nil || !want.Match(opened) {
		t.Errorf("launch.open ran tmux with %q, %v", opened, err)
	}

	sh := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(page, -1)
	if len(sh) != 1 {
		t.Fatalf("%d blocks of commands", len(sh))
	}
	if out := p.sh(sh[0][1]); out != p.home+"/forks\n" {
		t.Errorf("%s says %q", sh[0][1], out)
	}
	p.sh("umbra doctor")
}

// says holds umbra config to what a configuration says: each key is in force from its
// line, and each of its values stands there.
func (p *typist) says(yaml string) {
	p.t.Helper()
	keys := 0
	section := ""
	list := p.sh("umbra config list")
	for n, line := range strings.Split(yaml, "\n") {
		name, _, ok := strings.Cut(strings.TrimSpace(line), ":")
		switch {
		case !ok:
			continue
		case !strings.HasPrefix(line, " "):
			section = name
			continue
		}
		keys++
		key := section + "." + name
		if from := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(key) + ` .*config\.yml:` + strconv.Itoa(n+1) + ` `); !from.MatchString(list) {
			p.t.Errorf("%s is not of line %d in\n%s", key, n+1, list)
		}
		values := strings.TrimSuffix(p.sh("umbra config get "+key), "\n")
		for value := range strings.SplitSeq(values, "\n") {
			if value == "" || !strings.Contains(line, value) {
				p.t.Errorf("%s is %q, and the page says %s", key, value, line)
			}
		}
	}
	if keys == 0 {
		p.t.Errorf("no key in\n%s", yaml)
	}
}

// becomes waits until a file in the person's home holds a text.
func (p *typist) becomes(name, want string) {
	p.t.Helper()
	var got []byte
	if !patience.Until(time.Minute, func() bool {
		got, _ = os.ReadFile(filepath.Join(p.home, name))
		return string(got) == want
	}) {
		p.t.Errorf("~/%s holds %q, want %q", name, got, want)
	}
}
