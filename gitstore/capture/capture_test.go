package capture

import (
	"reflect"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/documents"
)

func TestFirstCapture(t *testing.T) {
	l := newLab(t, Settings{})
	l.gitInit()
	l.write("a", "one")
	l.write("d/e/f", "two")
	l.write(".gitignore", "*.o\n")
	l.write("d/x.o", "no")
	l.write(".env", "SECRET")
	r := l.walk()
	want := map[string]string{"a": "one", "d/e/f": "two", ".gitignore": "*.o\n"}
	if got := l.files(r); !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if want := []documents.Skipped{{Path: ".env", Reason: documents.ReasonSecret, Size: 6}}; !reflect.DeepEqual(withoutTimes(r.Skipped), want) {
		t.Errorf("skipped %v", r.Skipped)
	}
	if got := l.oracle(); got != r.Tree {
		t.Errorf("oracle says %s, capture %s", got, r.Tree)
	}
	again := l.walk()
	if again.Tree != r.Tree {
		t.Error("the tree changed by itself")
	}
	l.write("d/e/f", "three")
	l.write("d/new/g", "four")
	r = l.paths("d/e/f", "d/new")
	if got := l.oracle(); got != r.Tree {
		t.Errorf("oracle says %s, capture %s: %q", got, r.Tree, l.files(r))
	}
}
