package shadow

import (
	"reflect"
	"strings"
	"testing"
)

func FuzzPackedRefs(f *testing.F) {
	f.Add([]byte("# pack-refs with: peeled fully-peeled sorted \n" + strings.Repeat("a", 40) + " refs/heads/x\n^" + strings.Repeat("b", 40) + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p := parsePackedRefs(data)
		if len(p.bad) > 0 {
			return
		}
		again := parsePackedRefs(p.without("refs/none"))
		if len(again.bad) > 0 || len(p.lines) > 0 && !reflect.DeepEqual(again.lines, p.lines) {
			t.Fatalf("%q becomes %q", data, p.without("refs/none"))
		}
	})
}

func FuzzRefValue(f *testing.F) {
	f.Add([]byte(strings.Repeat("a", 40) + "\n"))
	f.Add([]byte("ref: refs/agents/" + testMission + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := parseRefValue(data)
		if err != nil {
			return
		}
		again, err := parseRefValue(v.encode())
		if err != nil || again != v {
			t.Fatalf("%q: %v, %v", data, again, err)
		}
	})
}
