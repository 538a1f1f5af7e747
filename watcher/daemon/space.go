package daemon

import (
	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/missions"
)

// freeSpace is how many bytes an ordinary user can still write on the disk
// that holds dir.
func freeSpace(dir string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return s.Bavail * uint64(s.Bsize), nil
}

// lowSpace refuses to write when the disk is nearly full: the index, whose
// files are mapped, would end the process (H36).
func (s *Server) lowSpace() error {
	free, err := s.options.FreeSpace(s.options.Home.Dir)
	if err != nil || free >= s.options.SpaceFloor {
		return nil
	}
	return missions.Errorf(missions.KindFailed, "free some space on that disk, then try again",
		"only %d MiB are free on the disk of %s; below %d MiB Umbra writes nothing",
		free>>20, s.options.Home.Dir, s.options.SpaceFloor>>20)
}
