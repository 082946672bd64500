// Lets a kernel file that names the host runtime's header compile. Declares the stream handle and nothing else.
#ifndef PTO_HOST_ACL_H
#define PTO_HOST_ACL_H

typedef void* aclrtStream;

#endif
