package searches

import (
	"context"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// TestSkippedRecordsAreMore: snapshots older than a full page are for the next one, unless
// they are too old for any.
func TestSkippedRecordsAreMore(t *testing.T) {
	t.Parallel()
	old := time.Unix(1000, 0)
	all := []ownedSnapshot{{projects.NumberedSnapshot{Snapshot: &gitstore.Snapshot{At: old}}, &projects.Mission{}}}
	for since, more := range map[time.Time]bool{{}: true, old.Add(time.Minute): false} {
		p := &page{since: since, limit: 1, hits: []missions.SearchHit{{At: old.Add(time.Hour)}}}
		s := &scope{places: map[missions.SearchPlace]bool{missions.SearchMessages: true}}
		if err := s.searchRecords(context.Background(), p, all, nil); err != nil || p.more != more {
			t.Errorf("since %v: more is %v, %v; want %v", since, p.more, err, more)
		}
	}
}
