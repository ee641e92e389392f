// What both solvers are asked: real requests over the corpus, the answers of which differ in what
// decides them: versions, builds, variants of BLAS and CUDA, old pins, channels.
'use strict';

const { readChannel } = require('./records.cjs');

const kPlain = ['__unix=0=0', '__linux=6.1', '__glibc=2.36', '__archspec=1=x86_64_v3'];
const withCuda = (driver) => [...kPlain, `__cuda=${driver}`];

const from = (channels, virtuals, ...specs) => ({ channels, virtuals, specs, solvable: true });
const forge = (...specs) => from(['conda-forge'], kPlain, ...specs);
const cuda = (driver, ...specs) => from(['conda-forge'], withCuda(driver), ...specs);

const kEight = 'python scipy scikit-learn matplotlib pytorch jupyterlab xarray dask'.split(' ');

const requests = [
    // the main requests, asked of the program too; `build`: what the chosen build of a name looks like
    { program: true, ...forge('python=3.12', 'numpy', 'pandas') },
    { program: true, ...cuda('12.8', 'pytorch', 'cuda-version=12.*'), build: { pytorch: /cuda/ } },
    { program: true, ...forge('pytorch', 'cuda-version=12.*'), build: { pytorch: /cpu/ } },
    { program: true, ...forge('pytorch=*=cuda*'), build: { pytorch: /cuda/ } },
    { program: true, ...forge('pytorch=*=cuda*', '__cuda'), solvable: false },
    {
        program: true,
        ...cuda('12.8', ...kEight),
        build: { pytorch: /cuda/ },
    },

    // one popular name
    forge('python'),
    forge('numpy'),
    forge('scipy'),
    forge('pandas'),
    forge('matplotlib'),
    forge('jupyterlab'),
    forge('ffmpeg'),
    forge('gdal'),
    forge('pyarrow'),
    forge('pillow'),
    forge('ruff'),
    forge('opencv'),
    forge('xarray'),
    forge('r-base'),
    forge('nodejs'),
    forge('vtk'),
    forge('compilers'),
    forge('geopandas'),
    forge('scikit-image'),
    forge('notebook'),

    // restricted, and together
    forge('python=3.8', 'numpy'),
    forge('python=3.9', 'matplotlib-base'),
    forge('python=3.10', 'pytorch <2.5'),
    forge('numpy=1.*', 'scipy'),
    forge('numpy <2', 'pandas', 'matplotlib-base'),
    forge('scipy', 'numpy <1.24'),
    forge('python=3.12', 'libblas=*=*mkl'),
    forge('numpy', 'libblas=*=*openblas'),
    forge('openssl=1.1', 'python'),
    forge('python >=3.9,<3.12', 'gdal', 'rasterio'),
    forge('pandas ==2.1.4'),
    forge('python', 'setuptools <60'),
    forge('pyarrow >=10,<15', 'pandas'),
    forge('llvm-openmp', 'numpy'),
    forge('_openmp_mutex=*=*_llvm', 'scipy'),
    forge('xarray', 'dask <2024'),

    // CUDA and its absence
    cuda('12.8', 'pytorch'),
    cuda('11.8', 'pytorch'),
    cuda('11.2', 'pytorch=*=cuda*'),
    cuda('12.8', 'jax', 'jaxlib=*=cuda*'),
    cuda('12.4', 'cupy'),
    cuda('13.0', 'cuda-version=13'),
    cuda('12.8', 'python=3.11', 'pytorch-gpu'),
    forge('jax'),
    forge('cupy'),
    forge('pytorch-gpu'),

    // several channels, the first one winning
    from(
        ['pytorch', 'nvidia', 'conda-forge'],
        withCuda('12.1'),
        'pytorch',
        'pytorch-cuda=12.1',
        'python=3.10',
    ),
    from(
        ['pytorch', 'nvidia', 'conda-forge'],
        withCuda('11.8'),
        'pytorch',
        'torchvision',
        'pytorch-cuda=11.8',
    ),
    from(['pytorch', 'conda-forge'], kPlain, 'pytorch <2', 'python'),
    from(['conda-forge', 'pytorch'], kPlain, 'faiss-cpu', 'numpy'),
    from(['conda-forge', 'bioconda'], kPlain, 'samtools', 'bcftools'),
    from(['conda-forge', 'bioconda'], kPlain, 'python', 'pysam'),
    from(['rapidsai', 'conda-forge', 'nvidia'], withCuda('12.9'), 'cudf', 'cuda-version=12.9'),
    from(['rapidsai', 'conda-forge', 'nvidia'], withCuda('12.9'), 'cuml', 'python=3.10'),
    from(['robostack-humble', 'conda-forge'], kPlain, 'ros-humble-ros-core'),
    from(['robostack-jazzy', 'conda-forge'], kPlain, 'ros-jazzy-ros-base', 'python'),

    // where rattler goes another way
    cuda('13.0', 'pycuda ==2025.1.2', 'cuda-nvvm ==12.9.86'),
    forge('python-fasthtml', 'asgiref', 'gguf'),

    // no answer
    { ...forge('python=3.12', 'numpy=1.19'), solvable: false },
    { ...forge('python=2.7', 'pandas >=2'), solvable: false },
    { ...forge('there-is-no-such-package'), solvable: false },
    { ...forge('openssl=1.1', 'python=3.13'), solvable: false },
];

/// Requests of one to three names, half of them with a version restriction, drawn with a fixed seed.
const drawn = (folder, count) => {
    const byName = readChannel(folder);
    const names = [...byName.keys()].sort();
    let seed = 20260821;
    const random = (below) => {
        seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
        return Math.floor((seed / 4294967296) * below);
    };
    const spec = () => {
        const name = names[random(names.length)];
        const records = byName.get(name);
        const { version } = records[random(records.length)];
        return [name, name, `${name} <=${version}`, `${name} ==${version}`][random(4)];
    };
    return Array.from({ length: count }, () => {
        const driver = ['11.8', '12.4', '13.0'][random(6)];
        return {
            channels: ['conda-forge'],
            virtuals: driver ? withCuda(driver) : kPlain,
            specs: Array.from({ length: 1 + random(3) }, spec),
        };
    });
};

module.exports = { requests, drawn };
