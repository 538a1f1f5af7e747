package fork

import (
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/databases"
)

// TestLaterLogs: a log that no snapshot holds comes along with the database that it belongs
// to, and with no earlier one.
func TestLaterLogs(t *testing.T) {
	l := newLab(t)
	page := func(fill string) string {
		return string(databases.Head()) + strings.Repeat(fill, 512-databases.HeadSize)
	}
	ends := databases.Beside()
	write := func(fill string) {
		l.write("app.db", page(fill))
		l.write("notes.txt", fill)
		for _, end := range ends {
			l.write("app.db"+end, fill)
			l.write("notes.txt"+end, fill)
		}
	}
	l.write(".umbraignore", "*-wal\n*-journal\n*-shm\n")
	write("1")
	l.initGit()
	now := l.snapshot()
	made := l.fork(now, l.target("now"))
	equal(t, "the fork of now", contents(t, made.Workspace, ".git"), contents(t, l.top, ".git"))

	write("2")
	past, newest := now, l.snapshot()
	past.Rules, past.Skipped, past.Now = newest.Rules, newest.Skipped, false
	made = l.fork(past, l.target("past"))
	want := contents(t, l.top, ".git")
	for _, end := range ends {
		delete(want, "app.db"+end)
	}
	want["app.db"], want["notes.txt"] = "-rw-r--r-- "+page("1"), "-rw-r--r-- 1"
	equal(t, "the fork of then", contents(t, made.Workspace, ".git"), want)
	if got := reasons(made.Left); len(got) != 2 || got["app.db-wal"] != reasonLaterLog || got["app.db-journal"] != reasonLaterLog {
		t.Errorf("left %v", got)
	}
}
