package beneath

import "golang.org/x/sys/unix"

// fileSystemOf knows file systems by statfs(2)'s magic numbers; those that
// unix has no name for are of Linux's magic.h and the file systems' sources.
func fileSystemOf(st *unix.Statfs_t) FileSystem {
	switch uint32(st.Type) {
	case unix.PROC_SUPER_MAGIC:
		return FileSystem{Name: "proc", Pseudo: true}
	case unix.SYSFS_MAGIC:
		return FileSystem{Name: "sysfs", Pseudo: true}
	case unix.DEVPTS_SUPER_MAGIC:
		return FileSystem{Name: "devpts", Pseudo: true}
	case unix.CGROUP_SUPER_MAGIC, unix.CGROUP2_SUPER_MAGIC:
		return FileSystem{Name: "cgroup", Pseudo: true}
	case unix.SECURITYFS_MAGIC, unix.SELINUX_MAGIC, unix.SMACK_MAGIC, unix.DEBUGFS_MAGIC,
		unix.TRACEFS_MAGIC, unix.BPF_FS_MAGIC, unix.PSTOREFS_MAGIC, unix.EFIVARFS_MAGIC,
		unix.BINFMTFS_MAGIC, unix.NSFS_MAGIC, unix.AUTOFS_SUPER_MAGIC, 0x7655821, /* resctrl */
		0x62656570 /* configfs */, 0x65735543 /* fusectl */, 0x19800202, /* mqueue */
		0x67596969 /* rpc_pipefs */ :
		return FileSystem{Name: "kernel", Pseudo: true}
	case unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC,
		unix.CEPH_SUPER_MAGIC, unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC, unix.CODA_SUPER_MAGIC,
		unix.NCP_SUPER_MAGIC, 0x0bd00bd0 /* lustre */, 0x47504653 /* gpfs */ :
		return FileSystem{Name: "network", Remote: true}
	case unix.V9FS_MAGIC:
		return FileSystem{Name: "9p", Remote: true}
	case unix.FUSE_SUPER_MAGIC:
		return FileSystem{Name: "fuse", Remote: true}
	case 0x786f4256:
		return FileSystem{Name: "vboxsf", Remote: true}
	case unix.MSDOS_SUPER_MAGIC, unix.EXFAT_SUPER_MAGIC:
		return FileSystem{Name: "fat", CoarseTimes: true}
	case 0x4244, 0x482b:
		return FileSystem{Name: "hfs", CoarseTimes: true}
	case unix.EXT4_SUPER_MAGIC:
		return FileSystem{Name: "ext", StampsNames: true}
	case unix.TMPFS_MAGIC:
		return FileSystem{Name: "tmpfs", StampsNames: true}
	case unix.XFS_SUPER_MAGIC:
		return FileSystem{Name: "xfs", StampsNames: true}
	case unix.BTRFS_SUPER_MAGIC:
		return FileSystem{Name: "btrfs", StampsNames: true}
	}
	return FileSystem{}
}
