package commands

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/commands/calltest"
)

// TestEditorsPage does what docs/editors.md says: installs into each editor and asks,
// types in Vim, Neovim and Emacs themselves what the page lists, and takes it out. What
// the editors' commands do, the scripts hold; VS Code is read there.
func TestEditorsPage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "docs", "editors.md"))
	calltest.Must(t, err)
	page := string(text)
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(page, -1)
	if len(blocks) != 2 {
		t.Fatalf("%d blocks of commands", len(blocks))
	}
	p := newTypist(t)
	p.sh("git config --global user.name a; git config --global user.email a@example.com")
	p.sh("mkdir -p ~/.vscode/extensions; echo '[]' >~/.vscode/extensions/extensions.json; umbra mission new --name login --prompt 'add a login page' </dev/null")
	install := strings.Split(strings.TrimSpace(blocks[0][1]), "\n")
	if len(install) != 3 || !strings.Contains(install[0], "# or nvim, emacs, vscode") {
		t.Fatalf("the page says\n%s", blocks[0][1])
	}
	for _, editor := range []string{"vim", "nvim", "emacs", "vscode"} {
		line := func(n int) string { return strings.Replace(install[n], " vim", " "+editor, 1) }
		before := p.traces(editor)
		p.sh(line(0))
		if out := p.sh(line(1)); !strings.HasPrefix(out, editor+": installed in ") {
			t.Errorf("%s says %s", line(1), out)
		}
		p.edits(editor, page)
		p.sh(line(2))
		if after := p.traces(editor); after != before {
			t.Errorf("%s leaves\n%s\nof\n%s", line(2), after, before)
		} else if out := p.sh(line(1)); !strings.HasPrefix(out, editor+": not installed") {
			t.Errorf("after %s: %s", line(2), out)
		}
	}
	for line := range strings.Lines(blocks[1][1]) {
		p.sh(line)
		if strings.Contains(line, " status ") {
			p.commits(page)
		}
	}
	p.sh("umbra doctor")
}

// traces are the files below the home that tell of Umbra in an editor.
func (p *typist) traces(editor string) string {
	p.t.Helper()
	return p.sh("cd; find . -path ./.local/share/umbra -prune -o -path ./code -prune -o -ipath '*" + editor + "*' -ipath '*umbra*' -print; find .vscode .vim -print 2>/dev/null || true")
}

// edits types in an editor what the page lists for it.
func (p *typist) edits(editor, page string) {
	p.t.Helper()
	switch editor {
	case "vim", "nvim":
		start := map[string]string{"vim": "vim --not-a-term -T dumb -n -i NONE", "nvim": "nvim --headless -n -i NONE"}[editor]
		typed := regexp.MustCompile("`:(Umbra[^`]*)`").FindAllStringSubmatch(page, -1)
		if len(typed) < 9 {
			p.t.Fatalf("only %d commands of Vim's", len(typed))
		}
		for _, m := range typed {
			line := strings.NewReplacer("TEXT", "from "+editor, "MOMENT", "login@start").Replace(m[1])
			p.sh(fmt.Sprintf("%s -c 'try | execute \"%s\" | catch | cquit | endtry' -c 'noautocmd qall!' README.md </dev/null", start, line))
		}
		if out := p.sh("umbra log login -n 1"); !strings.Contains(out, "from "+editor) {
			p.t.Errorf("the snapshot of %s is not there:\n%s", editor, out)
		}
		if dir := regexp.MustCompile(`\{ dir = "~/([^"]*)" \}`).FindStringSubmatch(page); editor == "nvim" && (dir == nil || p.sh("ls ~/"+dir[1]) == "") {
			p.t.Errorf("the plugin is not in %q", dir)
		}
	case "emacs":
		names := regexp.MustCompile("`M-x (umbra-[a-z]+)`").FindAllStringSubmatch(page, -1)
		forms := regexp.MustCompile("`(\\((?:require|umbra-mode|setq) [^`]*\\))`").FindAllStringSubmatch(page, -1)
		if len(names) != 8 || len(forms) != 3 {
			p.t.Fatalf("%d commands of Emacs's, %d forms", len(names), len(forms))
		}
		script := ""
		for _, m := range names {
			script += "(unless (commandp '" + m[1] + ") (error \"no " + m[1] + "\"))\n"
		}
		for _, m := range forms {
			script += m[1] + "\n"
		}
		script += "(find-file \"README.md\")\n(umbra-snapshot \"from emacs\")\n(umbra-open \"login@start\")\n"
		text := "(let (kill-emacs-hook) (condition-case err (progn\n" + script + "(kill-emacs 0)) (error (message \"%S\" err) (kill-emacs 1))))\n"
		calltest.Must(p.t, os.WriteFile(filepath.Join(p.home, "page.el"), []byte(text), 0o600))
		p.sh("env -u XDG_RUNTIME_DIR emacs --fg-daemon=page --load ~/page.el")
		if out := p.sh("umbra log login -n 1"); !strings.Contains(out, "from emacs") {
			p.t.Errorf("the snapshot of emacs is not there:\n%s", out)
		}
	case "vscode":
		var manifest struct {
			Contributes struct {
				Commands []struct{ Title, Category string }
			}
		}
		text, err := os.ReadFile(filepath.Join(p.home, ".vscode", "extensions", "umbra-vcs.umbra", "package.json"))
		calltest.Must(p.t, err)
		calltest.Must(p.t, json.Unmarshal(text, &manifest))
		_, listed, _ := strings.Cut(page, "command palette:")
		listed, _, _ = strings.Cut(listed, ";")
		if len(manifest.Contributes.Commands) != strings.Count(listed, "*")/2 {
			p.t.Errorf("%d commands, and the page lists %s", len(manifest.Contributes.Commands), listed)
		}
		for _, c := range manifest.Contributes.Commands {
			if !strings.Contains(listed, c.Title+"*") {
				p.t.Errorf("the page does not list %q of VS Code", c.Title)
			}
		}
	}
}

// commits has Git do what the page shows the lines of: each of them is of such a kind.
func (p *typist) commits(page string) {
	p.t.Helper()
	_, rest, _ := strings.Cut(page, "```text\n")
	shown, _, _ := strings.Cut(rest, "```")
	calltest.Must(p.t, os.WriteFile(filepath.Join(p.home, "work.sh"), []byte(`set -e
echo fixed >login.txt; git add -A; git commit -qm "Fix the login"
git commit -q --amend -m "Fix the login, really"
git switch -qc topic; echo topic >topic.txt; git add -A; git commit -qm topic
git switch -q main; echo more >more.txt; git add -A; git commit -qm more
git switch -q topic; git rebase -q main
git switch -q main; git merge -q topic
`), 0o600))
	p.sh("umbra mission new --name work -- sh ~/work.sh")
	log := p.sh("umbra log work")
	ids := regexp.MustCompile(`\b[0-9a-f]{7}\b`)
	for line := range strings.Lines(shown) {
		line = ids.ReplaceAllString(regexp.QuoteMeta(strings.TrimSpace(line)), "[0-9a-f]{7,}")
		if !regexp.MustCompile(line).MatchString(log) {
			p.t.Errorf("no %s in\n%s", line, log)
		}
	}
}
