package beneath

import (
	"testing"

	"golang.org/x/sys/unix"
)

// TestListingOfBrokenRecords: names must not be missing without an error.
func TestListingOfBrokenRecords(t *testing.T) {
	whole := make([]byte, 24)
	whole[16], whole[18], whole[19] = 24, unix.DT_REG, 'a'
	for name, broken := range map[string]func([]byte) []byte{
		"whole":          func(r []byte) []byte { return r },
		"cut off":        func(r []byte) []byte { return r[:20] },
		"without a name": func(r []byte) []byte { return r[:19] },
		"too short":      func(r []byte) []byte { r[16] = 3; return r },
		"unterminated": func(r []byte) []byte {
			for i := 19; i < 24; i++ {
				r[i] = 'a'
			}
			return r
		},
	} {
		l := Listing{data: broken(append([]byte(nil), whole...))}
		err := l.addRecords(0)
		if name == "whole" {
			if err != nil || l.Len() != 1 || string(l.Name(0)) != "a" || l.Kind(0) != File {
				t.Errorf("a whole record gives %d names, %v", l.Len(), err)
			}
		} else if err != unix.EIO {
			t.Errorf("a record %s: %v", name, err)
		}
	}
}
