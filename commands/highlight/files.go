package highlight

import (
	"context"

	"github.com/umbra-vcs/umbra/missions"
)

// Files are those of a patch since a snapshot, "" for none, which the Service is
// asked for as they were.
func Files(ctx context.Context, svc missions.History, caller missions.Caller, from string, changes []missions.FileChange) []File {
	files := make([]File, len(changes))
	for i, f := range changes {
		files[i] = File{Name: f.Path, Before: func() (string, error) {
			if f.Type == "added" || from == "" {
				return "", nil
			}
			path := f.Path
			if f.OldPath != "" {
				path = f.OldPath
			}
			text, err := svc.Cat(ctx, missions.CatRequest{Caller: caller, Moment: from, Path: path, FromTop: true})
			return string(text), err
		}}
	}
	return files
}
