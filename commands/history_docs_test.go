package commands

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/commands/calltest"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// TestHistoryRecipes runs what docs/history.md says to type, in its order.
func TestHistoryRecipes(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "docs", "history.md"))
	if err != nil {
		t.Fatal(err)
	}
	p := newTypist(t)
	run, sh := p.run, p.sh
	sh("umbra mission new --name login --prompt 'add a login page' </dev/null\numbra fork login --name other --no-launch")
	typed := 0
	table := string(page[:strings.Index(string(page), "## With Git")])
	for _, m := range regexp.MustCompile("`(umbra [^`]+)`").FindAllStringSubmatch(table, -1) {
		if sh(m[1]) == "" && !strings.Contains(m[1], "-- notes.txt") {
			t.Errorf("%s shows nothing", m[1])
		}
		typed++
	}
	for _, m := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		out := sh(m[1])
		if strings.Contains(out, "warning:") || strings.Contains(out, "ambiguous") {
			t.Errorf("%s\n%s", m[1], out)
		}
		if strings.Contains(m[1], "set-url") {
			if out := sh("! git push snapshots HEAD:refs/heads/mine 2>&1"); !strings.Contains(out, "no-push") {
				t.Errorf("a push into the shadow repository: %s", out)
			}
		}
		typed++
	}
	if typed < 14 {
		t.Errorf("only %d recipes are found", typed)
	}
	if out := sh("git branch -r; git remote"); out != "" {
		t.Errorf("the last recipe leaves %s", out)
	}
	for shell, ask := range map[string][]string{
		"bash": {"bash", "--norc", "-c", `PS1='$ '`, "\n" + `printf '%s' "${PS1@P}"`},
		"zsh":  {"zsh", "-f", "-c", "", "\n" + `print -P "$RPROMPT"`},
		"fish": {"fish", "--no-config", "-c", "", "\nfish_right_prompt"},
	} {
		m := regexp.MustCompile("(?s)```" + shell + "\n(.*?)```").FindStringSubmatch(string(page))
		if m == nil {
			t.Errorf("no recipe for %s", shell)
			continue
		}
		n := len(ask) - 2
		argv := append(ask[:n:n], "cd ~/code/app\n"+ask[n]+"\n"+m[1]+ask[n+1])
		if out := run(argv...); !strings.Contains(out, "login@1") && !strings.Contains(out, "other@") {
			t.Errorf("%s shows %q", shell, out)
		}
	}
	p.starship(recipe(t, string(page), "toml"))
	p.tmux(recipe(t, string(page), "tmux"))
	sh("umbra doctor")
}

// recipe is the one block of a page in a language.
func recipe(t *testing.T, page, language string) string {
	t.Helper()
	m := regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(page, -1)
	if len(m) != 1 {
		t.Fatalf("%d recipes for %s", len(m), language)
	}
	return m[0][1]
}

// starship is not run, which no distribution of the gate has: its recipe's command
// is, as starship would, by a shell in the directory of the prompt.
func (p *typist) starship(recipe string) {
	p.t.Helper()
	m := regexp.MustCompile(`(?m)^command = "(.*)"$`).FindStringSubmatch(recipe)
	if m == nil || !strings.Contains(recipe, "[custom.umbra]\n") || !strings.Contains(recipe, "\nwhen = true\n") {
		p.t.Fatalf("starship's recipe is %q", recipe)
	}
	if out := p.sh(m[1]); !strings.Contains(out, "login@1") && !strings.Contains(out, "other@") {
		p.t.Errorf("starship shows %q", out)
	}
}

// tmux has the recipe's status line drawn, in a terminal that another tmux is.
func (p *typist) tmux(recipe string) {
	p.t.Helper()
	dir, err := os.MkdirTemp("", "u") // a socket's path is short
	calltest.Must(p.t, err)
	defer os.RemoveAll(dir)
	calltest.Must(p.t, os.WriteFile(filepath.Join(p.home, ".tmux.conf"), []byte(recipe), 0o600))
	inner, outer := "tmux -S "+filepath.Join(dir, "inner"), "tmux -S "+filepath.Join(dir, "outer")
	defer p.sh(inner + " kill-server; " + outer + " kill-server || true")
	p.sh(outer + " -f /dev/null new-session -d -x 100 -y 20 'env -u TMUX TERM=screen " + inner + " new-session sh'")
	screen := ""
	if !patience.Until(time.Minute, func() bool {
		screen = p.sh(outer + " capture-pane -p")
		return strings.Contains(screen, "login@1") || strings.Contains(screen, "other@")
	}) {
		p.t.Errorf("tmux shows\n%s", screen)
	}
}
