package upkeep

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
)

// TestSalvage makes each kind of damage in the files of a repository's objects:
// check says so, what is intact stays and reads as it was, and what was rotten
// is set aside, not removed.
func TestSalvage(t *testing.T) {
	t.Parallel()
	cut := func(data []byte) []byte { return data[:len(data)*2/3] }
	garble := func(data []byte) []byte { return storetest.Flipped(data, len(data)/2) }
	for name, c := range map[string]struct {
		file   string // what is damaged: the end of its name, "loose" for one object
		damage func([]byte) []byte
		whole  bool // nothing is lost by it
	}{
		"pack truncated":  {".pack", cut, false},
		"pack garbled":    {".pack", garble, false},
		"pack empty":      {".pack", func([]byte) []byte { return nil }, false},
		"pack gone":       {".pack", nil, false},
		"index truncated": {".idx", cut, true},
		"index garbled":   {".idx", garble, true},
		"index empty":     {".idx", func([]byte) []byte { return nil }, true},
		"index gone":      {".idx", nil, true},
		"loose truncated": {"loose", cut, false},
		"loose garbled":   {"loose", garble, false},
		"loose empty":     {"loose", func([]byte) []byte { return nil }, false},
		"loose gone":      {"loose", nil, false},
		"loose of another": {"loose", func([]byte) []byte {
			return []byte("x\x9cK\xca\xc9OR0d\x00\x00\x0a\x95\x02\x0b")
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			s := storetest.New(t)
			files := map[string]string{}
			for i := range 2 * storetest.InPack {
				files[storetest.Numbered(i).String()] = strings.Repeat(storetest.Numbered(i).String()+"\n", i+1)
			}
			b := s.NewBatch()
			packed := storetest.CommitFiles(t, b, 1, files)
			storetest.NoErr(t, b.Flush(ctx))
			b.Discard()
			b = s.NewBatch()
			defer b.Discard()
			tip := storetest.CommitFiles(t, b, 2, map[string]string{"loose": "the one\n", "other": "another\n"}, packed)
			storetest.NoErr(t, b.Flush(ctx))
			storetest.NoErr(t, s.UpdateRef(ctx, gitstore.AgentRef(storetest.Mission), gitstore.ID{}, tip, gitstore.Durable))
			storetest.Must[SweepStats](t)(Sweep(ctx, s)) // no segment has it any more
			all := map[gitstore.ID][]byte{}
			r := storetest.Must[*shadow.Reach](t)(s.Reach(ctx, nil))
			for id := range r.Seen {
				_, data, err := s.Object(id)
				storetest.NoErr(t, err)
				all[id] = data
			}
			path := storetest.LooseFile(s.Dir(), gitstore.HashObject(gitstore.TypeBlob, []byte("the one\n")))
			if c.file != "loose" {
				path = s.Own().Packs[0].Base + c.file
			}
			was := storetest.Must[[]byte](t)(os.ReadFile(path))
			if c.damage == nil {
				storetest.NoErr(t, os.Remove(path))
			} else {
				storetest.Rewrite(t, path, c.damage(was))
			}

			s = storetest.Must[*shadow.Store](t)(shadow.Open(s.Dir()))
			defer s.Close()
			problems := storetest.Must[[]Problem](t)(Check(ctx, s))
			var rotten []RottenFile
			lost := map[gitstore.ID]bool{}
			for _, p := range problems {
				if strings.Contains(p.Message, "\n") || strings.Contains(p.Message, "fsck") {
					t.Errorf("not in words: %+v", p)
				}
				rotten = append(rotten, p.Rotten...)
				for _, l := range p.Lost {
					lost[l.ID] = true
				}
			}
			if len(rotten)+len(lost) == 0 {
				t.Fatalf("nothing was found: %+v", problems)
			}
			aside := storetest.Must[string](t)(Salvage(ctx, s, rotten, nil))
			if c.damage != nil && bytes.Equal(was, c.damage(was)) {
				t.Fatal("not damaged")
			}
			storetest.NoErr(t, sweepUnindexed(ctx, s))
			missing := 0
			for id, want := range all {
				_, got, err := s.Object(id)
				switch {
				case err == nil && bytes.Equal(got, want):
				case errors.Is(err, gitstore.ErrMissing):
					missing++
				default:
					t.Errorf("%s: %v", id, err)
				}
			}
			if c.whole && missing > 0 || !c.whole && (missing == 0 || c.file == "loose" && missing != 1 || c.file == ".pack" && c.damage != nil && len(was) > 0 && strings.HasSuffix(name, "garbled") && missing > 2) {
				t.Errorf("%d of %d are missing", missing, len(all))
			}
			if c.damage != nil && c.file != ".idx" {
				left := storetest.Must[[]string](t)(filepath.Glob(filepath.Join(aside, "*")))
				if len(left) == 0 {
					t.Error("nothing was set aside")
				}
			}
			if more := storetest.Must[[]RottenFile](t)(RottenFiles(ctx, s)); len(more) > 0 {
				t.Errorf("still rotten: %+v", more)
			}
			if missing == 0 {
				storetest.Fsck(t, s)
			}
		})
	}
}
