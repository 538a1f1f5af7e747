package jsonlines

import (
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

// pathForms are texts before and after a workspace has moved; "" is the same text.
type pathForms map[string]string

func (f pathForms) check(t *testing.T, to sessions.Rewrite) {
	t.Helper()
	for text, want := range f {
		if want == "" {
			want = text
		}
		if got := RewritePaths(text, to); got != want {
			t.Errorf("%s\nis    %s\nwants %s", text, got, want)
		}
		e := NewEditor(to, false, func([]byte) []Span { return nil })
		in := []byte(`{"text":"` + escaped(text) + `"}`)
		e.Paths(in)
		if got := string(e.Apply(nil, in)); got != `{"text":"`+escaped(want)+`"}` {
			t.Errorf("in JSON %s\nis %s", in, got)
		}
	}
}

func escaped(text string) string {
	var b []byte
	for _, c := range []byte(text) {
		switch c {
		case '\n':
			b = append(b, '\\', 'n')
		case '"', '\\':
			b = append(b, '\\', c)
		default:
			b = append(b, c)
		}
	}
	return string(b)
}

// TestPathsByHome: a path below the user's home is found by whatever stands for the home.
func TestPathsByHome(t *testing.T) {
	t.Parallel()
	pathForms{
		"cat ~/ws/a.txt $HOME/ws/b ${HOME}/ws":        "cat ~/.forks/x/a.txt $HOME/.forks/x/b ${HOME}/.forks/x",
		"cp \"$HOME/ws/a b\" \"$HOME\"/ws/c":          "cp \"$HOME/.forks/x/a b\" \"$HOME\"/.forks/x/c",
		"cd ~/ws\n~/ws/run --in=~/ws":                 "cd ~/.forks/x\n~/.forks/x/run --in=~/.forks/x",
		"see @~/ws/a.md and @/home/me/ws/b.md":        "see @~/.forks/x/a.md and @/home/me/.forks/x/b.md",
		"~/ws2 ~/x/ws ~other/ws x~/ws a/$HOME/ws ~ws": "", "host:~/ws me@host:$HOME/ws": "", "~/ws-2/a $HOME/ws.bak": "",
	}.check(t, sessions.Rewrite{OldRoot: "/home/me/ws", NewRoot: "/home/me/.forks/x", Home: "/home/me"})
	pathForms{
		"cat ~/ws/a.txt $HOME/ws/b \"$HOME\"/ws/c ~/ws.": "cat /srv/x/a.txt /srv/x/b /srv/x/c /srv/x.",
	}.check(t, sessions.Rewrite{OldRoot: "/home/me/ws", NewRoot: "/srv/x", Home: "/home/me"})
	pathForms{"~/ws $HOME/ws": ""}.check(t, sessions.Rewrite{OldRoot: "/data/ws", NewRoot: "/srv/x", Home: "/home/me"})
}

// TestPathsElsewhere: paths of other machines and in containers stay, and mentions,
// labels and lists of paths do not.
func TestPathsElsewhere(t *testing.T) {
	t.Parallel()
	pathForms{
		"scp a host:/a/b/c me@host.example.com:/a/b":                           "",
		"rsync -a /a/b/ me@host:/a/b/":                                         "rsync -a /n/ me@host:/a/b/",
		"docker run -v data:/a/b -v /a/b:/a/b:ro -v=./x:/a/b":                  "docker run -v data:/a/b -v /n:/a/b:ro -v=./x:/a/b",
		"docker run --volume /a/b/x:/a/b --volume=/a/b:/a/b x":                 "docker run --volume /n/x:/a/b --volume=/n:/a/b x",
		"docker run --mount type=bind,source=/a/b,target=/a/b x":               "docker run --mount type=bind,source=/n,target=/a/b x",
		"PATH=/a/b/bin:$PATH:/a/b/x PYTHONPATH=lib:/a/b make":                  "PATH=/n/bin:$PATH:/n/x PYTHONPATH=lib:/n make",
		"@/a/b/x.go (@/a/b) curl -d @/a/b/c":                                   "@/n/x.go (@/n) curl -d @/n/c",
		"me@/a/b x@/a/b":                                                       "",
		"cwd:/a/b\nfile:/a/b/c file:///a/b error:/a/b/x.go:3: bad":             "cwd:/n\nfile:/n/c file:///n error:/n/x.go:3: bad",
		"x.go:12:/a/b/y\n/usr/bin:/a/b":                                        "x.go:12:/n/y\n/usr/bin:/n",
		"see:/a/b/x (see:/a/b/x) Done:/a/b, moved to:/a/b":                     "see:/n/x (see:/n/x) Done:/n, moved to:/n",
		"paths.txt:/a/b/x make: built:/a/b; OUT=dist:/a/b":                     "paths.txt:/n/x make: built:/n; OUT=dist:/n",
		"ran scp; see:/a/b\nscp was slow: one\nsee:/a/b":                       "ran scp; see:/n\nscp was slow: one\nsee:/n",
		"on host:/a/b, build-host:/a/b, 10.0.0.1:/a/b [::1]:/a/b C:/a/b":       "",
		"scp -P 22 box:/a/b/x . && scp \"box:/a/b\" . | cat in:/a/b":           "scp -P 22 box:/a/b/x . && scp \"box:/a/b\" . | cat in:/n",
		"rsync -a \\\n  box:/a/b/x \\\n  /a/b/":                                "rsync -a \\\n  box:/a/b/x \\\n  /n/",
		"docker cp db:/a/b/x /a/b/ && kubectl cp ns/pod:/a/b x":                "docker cp db:/a/b/x /n/ && kubectl cp ns/pod:/a/b x",
		"git clone box:/a/b && sudo mount nas:/a/b /mnt":                       "",
		"volumes:\n  - data:/a/b\n  - \"data:/a/b:ro\"\n  - /a/b:/a/b":         "volumes:\n  - data:/a/b\n  - \"data:/a/b:ro\"\n  - /n:/a/b",
		"volumes:\n  # kept\n  - db:/var/db\n  - data:/a/b":                    "",
		"- cwd:/a/b/x\n- main:/a/b/c.go:12: bad\n  - seen:/a/b":                "- cwd:/n/x\n- main:/n/c.go:12: bad\n  - seen:/n",
		"- volumes:\n\nNotes\n- main:/a/b":                                     "- volumes:\n\nNotes\n- main:/n",
		"[ERROR]:/a/b/x git worktree at:/a/b docker file:/a/b":                 "[ERROR]:/n/x git worktree at:/n docker file:/n",
		"vscode://file/a/b/x.go:3:1 (zed://file/a/b) [x](cursor://file/a/b/c)": "vscode://file/n/x.go:3:1 (zed://file/n) [x](cursor://file/n/c)",
		"see\nvscode://file/a/b/x":                                             "see\nvscode://file/n/x",
		"https://file/a/b myvscode://file/a/b vscode://file/x/a/b":             "",
		"http://localhost:8080/a/b https://host/a/b ssh://host:/a/b/":          "",
	}.check(t, sessions.Rewrite{OldRoot: "/a/b", NewRoot: "/n"})
}

// TestPathsOfNames: below a root that routes have as well, only what is in it moves.
func TestPathsOfNames(t *testing.T) {
	t.Parallel()
	pathForms{
		"cd /app && cat /app/src/x.go /app/go.mod.":             "cd /n && cat /n/src/x.go /n/go.mod.",
		"GET /app/login '/app/api/users' \"/app/sources\"":      "",
		"ls /app/ /app/*.go /app/.git /app/node_modules/x":      "ls /n/ /n/*.go /n/.git /n/node_modules/x",
		"cd /app\nnpm test\n/app/\nsrc\n\"/app\"":               "cd /n\nnpm test\n/n/\nsrc\n\"/n\"",
		"router.push(\"/app/login?x=1\")\n/app/srcs /app/src-x": "",
	}.check(t, sessions.Rewrite{OldRoot: "/app", NewRoot: "/n", Names: []string{"src", "go.mod", "node_modules"}})
}
