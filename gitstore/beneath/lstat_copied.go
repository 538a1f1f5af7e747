//go:build unix && !(linux && (amd64 || arm64 || riscv64))

package beneath

import "golang.org/x/sys/unix"

// lstatTerminated is Lstat for a name that ends in a NUL.
func lstatTerminated(fd int, name []byte) (Stat, error) {
	var st unix.Stat_t
	err := ignoringEINTR(func() error {
		return unix.Fstatat(fd, string(name[:len(name)-1]), &st, unix.AT_SYMLINK_NOFOLLOW)
	})
	if err != nil {
		return Stat{}, err
	}
	return statOf(&st), nil
}
