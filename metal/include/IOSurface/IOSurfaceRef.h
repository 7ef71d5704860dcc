/* The type that Metal's texture methods take; there are no surfaces here. */
#pragma once

typedef struct __IOSurface *IOSurfaceRef;
