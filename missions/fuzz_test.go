package missions

import (
	"reflect"
	"testing"
)

// FuzzLifecycle: what is read of a stored lifecycle is written as it was.
func FuzzLifecycle(f *testing.F) {
	for _, l := range []Lifecycle{Initializing{}, Running{}, Idle{}, Failed{}, Closed{}} {
		p, err := MarshalLifecycle(l)
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(p))
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		l, err := UnmarshalLifecycle(p)
		if err != nil {
			return
		}
		text, err := MarshalLifecycle(l)
		if err != nil {
			t.Fatal(err)
		}
		again, err := UnmarshalLifecycle(text)
		if err != nil || !reflect.DeepEqual(again, l) {
			t.Fatalf("%s becomes %+v, %v", p, again, err)
		}
	})
}
