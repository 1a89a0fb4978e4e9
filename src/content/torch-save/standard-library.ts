/** The modules that come with Python, of all versions. Those with a leading underscore are left out: all of them count. */
export const standardLibrary: ReadonlySet<string> = new Set(
  `ConfigParser Queue SocketServer StringIO UserDict UserList abc aifc annotationlib antigravity anydbm argparse array ast asynchat
  asyncio asyncore atexit audioop base64 bdb binascii binhex bisect builtins bz2 cPickle cProfile cStringIO calendar cgi cgitb chunk
  cmath cmd code codecs codeop collections colorsys commands compileall compression concurrent configparser contextlib contextvars copy
  copy_reg copyreg crypt csv ctypes curses dataclasses datetime dbhash dbm decimal difflib dis distutils doctest dummy_thread email
  encodings ensurepip enum errno exceptions faulthandler fcntl filecmp fileinput fnmatch fractions ftplib functools gc genericpath
  getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html http httplib idlelib imaplib imghdr imp importlib inspect io
  ipaddress itertools json keyword lib2to3 linecache locale logging lzma mailbox mailcap marshal math md5 mimetypes mmap modulefinder
  msilib msvcrt multiprocessing netrc new nis nntplib nt ntpath nturl2path numbers opcode operator optparse os ossaudiodev pathlib pdb
  pickle pickletools pipes pkgutil platform plistlib popen2 poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr
  pydoc pydoc_data pyexpat queue quopri random re readline reprlib resource rlcompleter runpy sched secrets select selectors sets sha
  shelve shlex shutil signal site smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile sre_constants sre_parse ssl stat
  statistics string stringprep struct subprocess sunau symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios
  textwrap this thread threading time timeit tkinter token tokenize tomllib trace traceback tracemalloc tty turtle turtledemo types
  typing unicodedata unittest urllib urllib2 uu uuid venv warnings wave weakref webbrowser whichdb winreg winsound wsgiref xdrlib xml
  xmlrpc xmlrpclib zipapp zipfile zipimport zlib zoneinfo`.split(/\s+/),
)
