package commands

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestHistoryRecipes runs what docs/history.md says to type, in its order.
func TestHistoryRecipes(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "history.md"))
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	run := func(argv ...string) string {
		t.Helper()
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Env = []string{
			"HOME=" + home, "PATH=" + filepath.Join(home, "bin") + ":" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "TERM=dumb",
			"GIT_CONFIG_NOSYSTEM=1", "UMBRA_NO_DAEMON=1", "CLAUDE_CONFIG_DIR=" + filepath.Join(home, ".claude"),
		}
		cmd.Dir = home
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", argv[len(argv)-1], err, out)
		}
		return string(out)
	}
	sh := func(script string) string {
		t.Helper()
		return run("/bin/sh", "-c", "set -e\n[ ! -d ~/code/app ] || cd ~/code/app\n"+script)
	}
	sh(`mkdir -p ~/bin ~/code/app
printf '#!/bin/sh\nexec umbra scripted-agent "$@"\n' >~/bin/claude
chmod +x ~/bin/claude
cd ~/code/app
git init -q -b main
echo '# app' >README.md
git add .
git -c user.name=a -c user.email=a@example.com commit -qm begin
umbra mission new --name login --prompt 'add a login page' </dev/null
umbra fork login --name other --no-launch`)
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
	sh("umbra doctor")
}
