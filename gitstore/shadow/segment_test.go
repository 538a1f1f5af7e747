package shadow

import (
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
)

func FuzzSegment(f *testing.F) {
	f.Add(appendFrame(segmentMagic(), testID(1), []byte("raw")))
	f.Fuzz(func(t *testing.T, data []byte) {
		end, err := readSegment(strings.NewReader(string(data)), func(id gitstore.ID, raw []byte) error { return nil })
		if err != nil || end > int64(len(data)) {
			t.Fatalf("%d of %d: %v", end, len(data), err)
		}
	})
}
