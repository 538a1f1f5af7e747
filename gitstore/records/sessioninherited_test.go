package records

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/storetest"
)

// TestSessionInherited: the inherited part is stored by what proves it alone, until the
// agent rewrites it.
func TestSessionInherited(t *testing.T) {
	t.Parallel()
	const copied = "ONE\nTWO\n"
	l := &sessionLog{t: t, s: storetest.New(t)}
	_, err := l.append(source([]byte("one\ntwo\n"), false))
	storetest.NoErr(t, err)
	parent := l.record
	fork := source([]byte(copied), false)
	fork.SessionID = "fork"
	fork.Inherited = &Inherited{Record: parent, SourceLength: 8, Recipe: []byte(`{"upper":true}`)}
	proof := NewInheritedProof()
	_, _ = io.WriteString(proof, copied)
	proof.Describe(fork.Inherited)
	_, err = l.append(fork)
	storetest.NoErr(t, err)
	step := func(file string, same bool, generation int, inherits bool) {
		t.Helper()
		src := source([]byte(file), same)
		src.SessionID = "fork"
		meta, err := l.append(src)
		storetest.NoErr(t, err)
		if meta.Generation != generation || (meta.Inherited != nil) != inherits || inherits && meta.Inherited.Record != parent {
			t.Fatalf("%q: meta %+v", file, meta)
		}
		l.check([]byte(strings.TrimPrefix(file, map[bool]string{true: copied}[inherits])))
	}
	step(copied+"three\nto", true, 1, true)
	step(copied+"three\ntorn", false, 1, true) // all of it is compared
	step("OxE\nTWO\nthree\nto", true, 2, false)
	l = &sessionLog{t: t, s: storetest.New(t)}
	short := source([]byte("ONE\n"), false)
	short.Inherited = &Inherited{Length: 8}
	if _, err := l.append(short); !errors.Is(err, ErrSessionChanged) {
		t.Errorf("a copy that is shorter than what was written: %v", err)
	}
}

// TestInheritedProof: only the very bytes prove a part.
func TestInheritedProof(t *testing.T) {
	t.Parallel()
	proof := NewInheritedProof()
	_, _ = io.WriteString(proof, "one\ntwo\n")
	var in Inherited
	proof.Describe(&in)
	if in.Length != 8 || in.Lines != 2 {
		t.Errorf("described as %+v", in)
	}
	for text, want := range map[string]bool{"one\ntwo\n": true, "one\ntwO\n": false, "one\ntwo": false, "one\ntwo\n\n": false, "": false} {
		again := NewInheritedProof()
		_, _ = io.WriteString(again, text)
		if got := again.Proves(&in); got != want {
			t.Errorf("%q proves %+v: %v", text, in, got)
		}
	}
}
